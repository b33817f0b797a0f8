package io.softdpu.comch;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * One side of a channel as a process, for tests that kill it: a server that echoes messages, or a
 * client, and a consumer on the connection that reposts each buffer. Runs until it is killed or
 * reads any line but the commands below. Prints its events on standard output.
 */
public final class PeerProgram {
    private static final int BUFFERS = 8;
    private static final int BUFFER_BYTES = 8 << 20;
    private static final int MESSAGE_BYTES = 5;

    /** Stops the mmap of the consumer, which keeps running. */
    static final String STOP_MMAP = "stop mmap";

    /** Stops the consumer. */
    static final String STOP_CONSUMER = "stop consumer";

    /** Sends a message, and data through a producer of its own; clients only. */
    static final String SEND = "send";

    /** Creates another consumer; servers only. */
    static final String CONSUME = "consume";

    private static ComchConnection connected;
    private static ComchConsumer consumer;
    private static Mmap memoryOfConsumer;

    private PeerProgram() {}

    /** Arguments: server or client, and the fabric folder. */
    public static void main(String[] arguments) throws Exception {
        boolean server = arguments[0].equals("server");
        Machine machine =
                Machine.builder(server ? Side.DPU : Side.HOST)
                        .fabricFolder(Path.of(arguments[1]))
                        .open();
        Device device = machine.findDevice(server ? "p0" : "pf0").open();
        ProgressEngine engine = ProgressEngine.create();
        ComchEndpoint endpoint =
                server
                        ? ComchServer.create(
                                device, device.findRepresentor("hpf0").open(), Card.NAME)
                        : ComchClient.create(device, Card.NAME).setConnectTimeout(Patience.LIMIT);
        engine.connect(endpoint);
        endpoint.setControlTimeout(Patience.LIMIT);
        endpoint.setSendTasks(8, ComchSendTask::free, ComchSendTask::free);
        endpoint.setMessageCallback((from, message) -> {
            if (!server) {
                say("message of " + message.byteSize() + " bytes");
                return;
            }
            ComchSendTask task = endpoint.allocateSendTask(from);
            task.setMessage(message, 0, (int) message.byteSize());
            if (task.trySubmit() != Status.SUCCESS) {
                task.free();
            }
        });
        endpoint.setConsumerCallbacks((c, id) -> say("consumer " + id), (c, id) -> {});
        if (endpoint instanceof ComchServer listening) {
            listening
                    .setConnectedCallback(c -> {
                        say("connected true");
                        say("peer " + c.peer());
                        connected = c;
                        consume(engine, c, device);
                    })
                    .setRefusedCallback((c, reason) -> say("connected false"))
                    .setDisconnectedCallback(
                            (c, reason) -> say("disconnected " + (reason == null)));
        }
        endpoint.start();
        say("ready");
        boolean consuming = false;
        while (obey(engine, device)) {
            engine.await(Duration.ofMillis(20));
            if (endpoint instanceof ComchClient client
                    && !consuming
                    && client.state() == ContextState.RUNNING) {
                consuming = true;
                connected = client.connection();
                consume(engine, connected, device);
                say("running");
                say("peer " + connected.peer());
            }
        }
    }

    /** Executes a command from standard input, if there is one; false for the end. */
    private static boolean obey(ProgressEngine engine, Device device) throws IOException {
        if (System.in.available() == 0) {
            return true;
        }
        StringBuilder line = new StringBuilder();
        for (int read = System.in.read(); read >= 0 && read != '\n'; read = System.in.read()) {
            line.append((char) read);
        }
        switch (line.toString()) {
            case STOP_MMAP -> memoryOfConsumer.stop();
            case STOP_CONSUMER -> consumer.stop();
            case CONSUME -> consume(engine, connected, device);
            case SEND -> send(engine, connected, device);
            default -> {
                return false;
            }
        }
        say("done " + line);
        return true;
    }

    private static void consume(ProgressEngine engine, ComchConnection connection, Device device) {
        Mmap mmap = memory((long) BUFFERS * BUFFER_BYTES, device);
        BufInventory inventory = BufInventory.create(BUFFERS);
        inventory.start();
        memoryOfConsumer = mmap;
        consumer = ComchConsumer.create(connection, mmap);
        engine.connect(consumer);
        consumer.setPostReceiveTasks(
                BUFFERS,
                task -> {
                    task.buf().resetDataLength();
                    if (task.trySubmit() != Status.SUCCESS) {
                        task.free(); // the consumer stops
                    }
                },
                ComchPostReceiveTask::free);
        consumer.setStateChangedCallback((context, from, to) -> {
            say("consumer " + to);
            ComchConsumer one = (ComchConsumer) context;
            // The peer may have gone in the same progress that made it run.
            if (one.state() == ContextState.RUNNING) {
                for (int i = 0; i < BUFFERS; i++) {
                    one.allocatePostReceiveTask(
                                    inventory.bufByAddress(
                                            mmap, (long) i * BUFFER_BYTES, BUFFER_BYTES))
                            .submit();
                }
                say("posted");
            }
        });
        consumer.start();
    }

    private static void send(ProgressEngine engine, ComchConnection connection, Device device) {
        ComchSendTask message = connection.endpoint().allocateSendTask(connection);
        message.setMessage(new byte[MESSAGE_BYTES]);
        message.submit();
        Mmap mmap = memory(BUFFER_BYTES, device);
        BufInventory inventory = BufInventory.create(1);
        inventory.start();
        ComchProducer producer = ComchProducer.create(connection);
        engine.connect(producer);
        producer.setSendTasks(1, task -> say("sent"), task -> say("not sent " + task.status()));
        producer.setStateChangedCallback((context, from, to) -> {
            say("producer " + to);
            if (to == ContextState.RUNNING) {
                producer.allocateSendTask(
                                inventory.bufByData(mmap, 0, BUFFER_BYTES),
                                connection.remoteConsumers()[0])
                        .submit();
            }
        });
        producer.start();
    }

    private static Mmap memory(long sizeBytes, Device device) {
        return Mmap.create()
                .setMemory(SharedMemory.allocate(sizeBytes))
                .setPermissions(
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                .addDevice(device)
                .start();
    }

    private static void say(String what) {
        System.out.println(what);
    }
}
