package io.softdpu.storage.initiator;

import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.control.ComchServerControlChannel;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Service without a target: it follows the protocol up to the data path, and replies to io_messages
 * as the test specifies. Runs on one thread.
 */
final class FakeService implements AutoCloseable {
    static final String NAME = "fake";
    private static final int SLOTS = 8;

    /** Changes a request in place to the reply. */
    interface Answer {
        /** Number of bytes of the reply; 0 for no reply, negative to send it twice. */
        int make(MessageMemory messages, int message);
    }

    private final Machine machine;
    private final Answer answer;
    private final UnaryOperator<ControlMessage> change;
    private final List<ControlMessage> received = Collections.synchronizedList(new ArrayList<>());
    private final Thread thread;
    private final CountDownLatch listening = new CountDownLatch(1);
    private volatile boolean ending;
    private volatile @Nullable Throwable problem;

    private ProgressEngine engine;
    private Device device;
    private ComchServerControlChannel channel;
    private MessageMemory messages;
    private ComchConsumer consumer;
    private ComchProducer producer;
    private int freeCopy = SLOTS;

    FakeService(Path folder, Answer answer) {
        this(folder, answer, message -> message);
    }

    /** Creates a service that also changes its control replies. */
    FakeService(Path folder, Answer answer, UnaryOperator<ControlMessage> change) {
        this.machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
        this.answer = answer;
        this.change = change;
        this.thread = new Thread(this::run, "fake-service");
        thread.start();
        Pipeline.await(listening);
    }

    /** The initiator's messages; complete after {@link #close}. */
    List<ControlMessage> received() {
        return List.copyOf(received);
    }

    @Override
    public void close() throws Exception {
        ending = true;
        engine.wake();
        Pipeline.join(thread);
        machine.close();
        if (problem != null) {
            throw new AssertionError(problem);
        }
    }

    private void run() {
        try {
            device = machine.findDevice("p0").open();
            engine = ProgressEngine.create();
            try (Representor representor = device.findRepresentor("0b:00.0").open()) {
                channel =
                        ControlChannels.makeComchServer(
                                engine,
                                device,
                                representor,
                                NAME,
                                ConsumerListener.none(),
                                Patience.LIMIT);
                listening.countDown();
                serve();
                tearDown();
            }
            device.close();
        } catch (Throwable e) {
            problem = e;
            listening.countDown();
        }
    }

    private void serve() {
        try {
            while (!ending) {
                ControlMessage request = channel.poll();
                if (request != null) {
                    received.add(request);
                }
                // An error_response is the reason of the initiator's end, which follows.
                if (request != null && request.type() != ControlMessageType.ERROR_RESPONSE) {
                    channel.send(change.apply(request.reply(handle(request))));
                }
                channel.await(Duration.ofMillis(100));
            }
            // What the initiator said before this was ended counts, too.
            ControlMessage late = channel.poll();
            while (late != null) {
                received.add(late);
                late = channel.poll();
            }
        } catch (io.softdpu.core.DpuException e) {
            // The initiator has gone: that is how such a session ends.
            if (e.status() != Status.CONNECTION_RESET) {
                throw e;
            }
        }
    }

    private ControlPayload handle(ControlMessage request) {
        return switch (request.payload()) {
            case ControlPayload.QueryStorageRequest _ ->
                    new ControlPayload.QueryStorageResponse(64 << 10, 4096);
            case ControlPayload.InitStorageRequest _ -> {
                createObjects();
                yield new ControlPayload.InitStorageResponse();
            }
            case ControlPayload.StartStorageRequest _ -> {
                postAll();
                yield new ControlPayload.StartStorageResponse();
            }
            case ControlPayload.StopStorageRequest _ -> new ControlPayload.StopStorageResponse();
            case ControlPayload.ShutdownRequest _ -> new ControlPayload.ShutdownResponse();
            default -> throw new AssertionError(request);
        };
    }

    private void createObjects() {
        messages =
                new MessageMemory(
                        device,
                        2 * SLOTS,
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
        consumer = ComchConsumer.create(channel.connection(), messages.mmap());
        consumer.setPostReceiveTasks(SLOTS, this::received, ComchPostReceiveTask::free);
        producer = ComchProducer.create(channel.connection());
        producer.setSendTasks(2 * SLOTS, ComchProducerSendTask::free, ComchProducerSendTask::free);
        engine.connect(consumer);
        engine.connect(producer);
        consumer.start();
        producer.start();
    }

    private void postAll() {
        while (consumer.state() != ContextState.RUNNING
                || producer.state() != ContextState.RUNNING) {
            engine.await(Patience.LIMIT);
        }
        for (int i = 0; i < SLOTS; i++) {
            consumer.allocatePostReceiveTask(messages.buf(i)).submit();
        }
    }

    private void received(ComchPostReceiveTask task) {
        int message = (int) (task.buf().offset() / 64);
        task.free();
        int length = answer.make(messages, message);
        if (length != 0) {
            send(message, Math.abs(length));
        }
        if (length < 0) {
            int copy = freeCopy++;
            messages.segment()
                    .asSlice(messages.at(copy), 64)
                    .copyFrom(messages.segment().asSlice(messages.at(message), 64));
            send(copy, -length);
        }
    }

    private void send(int message, int length) {
        messages.buf(message).setData(messages.at(message), length);
        producer.allocateSendTask(messages.buf(message), channel.connection().remoteConsumers()[0])
                .submit();
    }

    private void tearDown() {
        if (consumer != null) {
            for (var context : new io.softdpu.core.execution.Context[] {consumer, producer}) {
                if (context.state() == ContextState.RUNNING
                        || context.state() == ContextState.STARTING) {
                    context.stop();
                }
                while (context.state() != ContextState.IDLE) {
                    engine.await(Patience.LIMIT);
                }
                context.close();
            }
            messages.close();
        }
        channel.close();
        engine.close();
    }
}
