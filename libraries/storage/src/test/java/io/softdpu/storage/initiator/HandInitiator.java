package io.softdpu.storage.initiator;

import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.storage.control.ComchClientControlChannel;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.End;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.worker.MessageMemory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An initiator that a test leads by the hand: it does what is right, or says what the test wants.
 */
final class HandInitiator implements AutoCloseable {
    private static final long TIMEOUT = 20_000_000_000L;
    private static final int SLOTS = 4;

    private final Machine machine;
    private final Device device;
    private final End end;
    private final List<Context> contexts = new ArrayList<>();
    private ProgressEngine engine;
    private MessageMemory messages;
    private IoMemory memory;
    private int lastId;

    /** Connects to the service of this name. */
    HandInitiator(Path folder, String channel) {
        machine = Machine.builder(Side.HOST).fabricFolder(folder).open();
        device = machine.findDevice("pf0").open();
        end =
                new End(
                        "hand-initiator",
                        () -> {
                            engine = ProgressEngine.create();
                            return ControlChannels.makeComchClient(
                                    engine, device, channel, ConsumerListener.none(), TIMEOUT);
                        },
                        () -> engine.close());
        end.run(c -> c.awaitConnected(TIMEOUT));
    }

    /** The requests of a session in their order, as an initiator makes them. */
    static int steps() {
        return 5;
    }

    /** Does what is right in this step, and gets the answer. */
    ControlMessage proceed(int step) {
        return switch (step) {
            case 0 -> ask(new ControlPayload.QueryStorageRequest());
            case 1 -> {
                memory = new IoMemory(device, 16 << 10);
                yield ask(new ControlPayload.InitStorageRequest(SLOTS, 1, memory.export()));
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

    /** Asks for something, whether its turn has come or not. */
    ControlMessage ask(ControlPayload request) {
        int id = say(request);
        ControlMessage answer = end.call(c -> c.receive(TIMEOUT));
        if (answer.messageId() != id && answer.messageId() != 0) {
            throw new AssertionError("answer to another request: " + answer);
        }
        return answer;
    }

    /** The next that the service says. */
    ControlMessage hear() {
        return end.call(c -> c.receive(TIMEOUT));
    }

    /** Says something and waits for no answer. */
    int say(ControlPayload payload) {
        int id = ++lastId;
        end.run(c -> {
            c.send(new ControlMessage(id, id, payload));
            c.flush(TIMEOUT);
        });
        return id;
    }

    @Override
    public void close() {
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
                        SLOTS,
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE));
        ComchConsumer consumer = ComchConsumer.create(channel.connection(), messages.mmap());
        consumer.setPostReceiveTasks(SLOTS, ComchPostReceiveTask::free, ComchPostReceiveTask::free);
        ComchProducer producer = ComchProducer.create(channel.connection());
        producer.setSendTasks(SLOTS, ComchProducerSendTask::free, ComchProducerSendTask::free);
        for (Context context : List.of(consumer, producer)) {
            contexts.add(context);
            engine.connect(context);
            context.start();
            while (context.state() != ContextState.RUNNING) {
                engine.await(TIMEOUT);
            }
        }
    }

    private void stopObjects() {
        for (Context context : contexts) {
            if (context.state() == ContextState.RUNNING
                    || context.state() == ContextState.STARTING) {
                context.stop();
            }
            while (context.state() != ContextState.IDLE) {
                engine.await(TIMEOUT);
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
