package io.softdpu.storage.initiator;

import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ComchClientControlChannel;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.worker.MessageMemory;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/** Initiator whose steps a test calls one by one: correct ones, or arbitrary messages. */
public final class ScriptedInitiator implements AutoCloseable {

    /** What it asks for: the service has room for twice as many messages. */
    public static final int TRANSACTIONS = 4;

    private static final int SLOTS = 2 * TRANSACTIONS;

    private final Machine machine;
    private final Device device;
    private final ChannelEnd end;
    private final List<Context> contexts = new ArrayList<>();
    private ProgressEngine engine;
    private MessageMemory messages;
    private IoMemory memory;
    private ComchConsumer consumer;
    private ComchProducer producer;
    private final Queue<byte[]> responses = new ArrayDeque<>();
    private int lastId;
    private boolean closed;
    private int sent;

    /** Connects to the service of this name. */
    public ScriptedInitiator(Path folder, String channel) {
        machine = Machine.builder(Side.HOST).fabricFolder(folder).open();
        device = machine.findDevice("pf0").open();
        end =
                new ChannelEnd(
                        "hand-initiator",
                        () -> {
                            engine = ProgressEngine.create();
                            return ControlChannels.makeComchClient(
                                    engine,
                                    device,
                                    channel,
                                    ConsumerListener.none(),
                                    Patience.LIMIT);
                        },
                        () -> engine.close());
        end.run(c -> c.awaitConnected(Patience.LIMIT));
    }

    /** The requests of a session in their order, as an initiator makes them. */
    public static int steps() {
        return 5;
    }

    /** Performs a step correctly, and returns the reply. */
    public ControlMessage proceed(int step) {
        return switch (step) {
            case 0 -> ask(new ControlPayload.QueryStorageRequest());
            case 1 -> {
                memory = new IoMemory(device, 16 << 10);
                yield ask(new ControlPayload.InitStorageRequest(TRANSACTIONS, 1, memory.export()));
            }
            case 2 -> {
                end.run(c -> createObjects((ComchClientControlChannel) c));
                yield ask(new ControlPayload.StartStorageRequest());
            }
            case 3 -> ask(new ControlPayload.StopStorageRequest());
            case 4 -> {
                end.run(_ -> stopObjects());
                yield ask(new ControlPayload.ShutdownRequest());
            }
            default -> throw new AssertionError(step);
        };
    }

    /** Sends any request, and returns the reply. */
    public ControlMessage ask(ControlPayload request) {
        int id = say(request);
        ControlMessage answer = end.call(c -> c.receive(Patience.LIMIT));
        if (answer.messageId() != id && answer.messageId() != 0) {
            throw new AssertionError("answer to another request: " + answer);
        }
        return answer;
    }

    /** The next message of the service. */
    public ControlMessage hear() {
        return end.call(c -> c.receive(Patience.LIMIT));
    }

    /** Whether the service sends no control message within this time. */
    public boolean isToldNothingFor(long nanos) {
        return end.call(c -> {
            try {
                c.receive(Duration.ofNanos(nanos));
                return false;
            } catch (DpuException e) {
                return e.status() == Status.TIME_OUT;
            }
        });
    }

    /** Sends a message without waiting for a reply. */
    public int say(ControlPayload payload) {
        int id = ++lastId;
        end.run(c -> {
            c.send(new ControlMessage(id, id, payload));
            c.flush(Patience.LIMIT);
        });
        return id;
    }

    /** Sends an io_message, whatever it holds; what the submission came to. */
    public Status send(byte[] message) {
        return end.call(c -> {
            int slot = SLOTS + sent % SLOTS;
            messages.buf(slot).setData(messages.at(slot), message.length);
            messages.segment()
                    .asSlice(messages.at(slot), message.length)
                    .copyFrom(MemorySegment.ofArray(message));
            ComchProducerSendTask task =
                    producer.allocateSendTask(messages.buf(slot), consumersOfTheService(c)[0]);
            Status status = task.trySubmit();
            if (status == Status.SUCCESS) {
                sent++;
                while (engine.progress()) {} // wakes a service that sleeps
            } else {
                task.free();
            }
            return status;
        });
    }

    /** Waits for the next io_message of the service. */
    public byte[] receive() {
        return end.call(_ -> {
            Deadline deadline = Deadline.in(Patience.LIMIT);
            while (responses.isEmpty()) {
                if (deadline.hasPassed()) {
                    throw new AssertionError("no response in time");
                }
                engine.await(deadline);
            }
            return responses.remove();
        });
    }

    /** Stops its consumer and its producer, as before a shutdown. */
    public void stopContexts() {
        end.run(_ -> stopObjects());
    }

    /** How many consumers the service has now. */
    public int consumersOfTheService() {
        return end.call(c -> consumersOfTheService(c).length);
    }

    /** Waits until the service has a consumer. */
    public void awaitConsumerOfTheService() {
        end.run(c -> {
            Deadline deadline = Deadline.in(Patience.LIMIT);
            while (consumersOfTheService(c).length == 0) {
                if (deadline.hasPassed()) {
                    throw new AssertionError("no consumer in time");
                }
                engine.await(deadline);
            }
        });
    }

    private static int[] consumersOfTheService(ControlChannel channel) {
        return ((ComchClientControlChannel) channel).connection().remoteConsumers();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        end.run(_ -> stopObjects());
        end.close();
        if (memory != null) {
            memory.close();
        }
        device.close();
        machine.close();
    }

    private void createObjects(ComchClientControlChannel channel) {
        messages =
                new MessageMemory(
                        device,
                        2 * SLOTS,
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
        consumer = ComchConsumer.create(channel.connection(), messages.mmap());
        consumer.setPostReceiveTasks(SLOTS, this::received, ComchPostReceiveTask::free);
        producer = ComchProducer.create(channel.connection());
        producer.setSendTasks(SLOTS, ComchProducerSendTask::free, ComchProducerSendTask::free);
        for (Context context : List.of(consumer, producer)) {
            contexts.add(context);
            engine.connect(context);
            context.start();
            while (context.state() != ContextState.RUNNING) {
                engine.await(Patience.LIMIT);
            }
        }
        for (int i = 0; i < SLOTS; i++) {
            consumer.allocatePostReceiveTask(messages.buf(i)).submit();
        }
    }

    private void received(ComchPostReceiveTask task) {
        int slot = (int) (task.buf().offset() / IoMessageView.WIRE_BYTES);
        responses.add(
                messages.segment()
                        .asSlice(messages.at(slot), messages.buf(slot).dataLength())
                        .toArray(ValueLayout.JAVA_BYTE));
        messages.clear(slot);
        task.submit();
    }

    private void stopObjects() {
        for (Context context : contexts) {
            if (context.state() == ContextState.RUNNING
                    || context.state() == ContextState.STARTING) {
                context.stop();
            }
            while (context.state() != ContextState.IDLE) {
                engine.await(Patience.LIMIT);
            }
            context.close();
        }
        contexts.clear();
        if (messages != null) {
            messages.close();
            messages = null;
        }
    }
}
