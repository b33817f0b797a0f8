package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.roce.RoceQueuePair;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Messages to and fro, as {@code ibv_rc_pingpong} of the verbs sends them, which may be the peer:
 * the sides exchange their queue pairs by a line of text over TCP, and need no connection
 * management.
 */
final class RdmaPingpong implements Sample {
    static final SampleOption ADDRESS =
            SampleOption.of(
                    "address",
                    null,
                    "ADDRESS",
                    "The address of the server, for the TCP connection: this side is the client"
                            + " then, and the server without it");

    static final SampleOption PORT =
            SampleOption.of("port", null, "PORT", "The TCP port of the server (default: 18515)");

    static final SampleOption SIZE =
            SampleOption.of(
                    "size",
                    null,
                    "BYTES",
                    "The size of a message, the same at the peer (default: 4096)");

    static final SampleOption ITERS =
            SampleOption.of(
                    "iters",
                    null,
                    "N",
                    "The number of messages in each direction, the same at the peer (default:"
                            + " 1000)");

    static final SampleOption MTU =
            SampleOption.of(
                    "mtu",
                    null,
                    "BYTES",
                    "The path MTU, the same at the peer: 256, 512, 1024, 2048 or 4096 (default:"
                            + " 1024)");

    private static final String PROVIDER = "roce";
    private static final int DEFAULT_SIZE = 4096;
    private static final int DEFAULT_ITERS = 1000;
    private static final int DEFAULT_MTU = 1024;
    private static final int MAX_SIZE = 1 << 30;
    private static final int MIN_MTU = 256;
    private static final int MAX_MTU = 4096;

    /** {@code ibv_rc_pingpong} answers so many reads at a time; it is not asked for any. */
    private static final int READ_LIMIT = 1;

    /** Of the peer one message at most is on its way. */
    private static final int RECEIVES = 2;

    @Override
    public String name() {
        return "rdma-pingpong";
    }

    @Override
    public String summary() {
        return "Sends messages to and fro with another one, or with ibv_rc_pingpong of Linux.";
    }

    @Override
    public String output() {
        return "Both queue pairs as the programs exchange them, then bandwidth and time for each"
                + " message in each direction.";
    }

    @Override
    public String source() {
        return "connect() exchanges the RoceQueuePair of both sides; onReceived() and onSent() send"
                + " the next message.";
    }

    @Override
    public List<String> exampleArguments() {
        return List.of("--device t0", "--device p0 --address 127.65.0.1");
    }

    @Override
    public List<SampleOption> options() {
        return List.of(
                RdmaSampleSettings.DEVICE,
                ADDRESS,
                PORT,
                SIZE,
                ITERS,
                MTU,
                RdmaSampleSettings.GID_INDEX,
                SampleOption.TIMEOUT);
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        int size = number(settings, SIZE, DEFAULT_SIZE, 1, MAX_SIZE);
        Deadline deadline = Deadline.in(settings.timeout());
        try (Machine machine = RdmaSampleSettings.machine(settings, Side.TARGET);
                Device device =
                        RdmaSampleSettings.device(
                                        machine,
                                        settings,
                                        List.of(RdmaTaskType.SEND, RdmaTaskType.RECEIVE))
                                .open();
                SharedMemory memory = SampleInput.memoryFor("option=--size", 2L * size);
                Mmap mmap = Mmap.create();
                ProgressEngine engine = ProgressEngine.create();
                BufInventory inventory = BufInventory.create(RECEIVES + 1).start();
                Rdma rdma = Rdma.create(device)) {
            mmap.setMemory(memory)
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(device)
                    .start();
            try (Program program =
                    new Program(settings, out, deadline, size, mmap, engine, inventory, rdma)) {
                program.run();
            }
        }
    }

    private static int number(
            SampleSettings settings, SampleOption option, int otherwise, int least, int most) {
        String text = settings.value(option, Integer.toString(otherwise));
        try {
            int number = Text.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw illegal(option, text, least, most, e);
        }
        throw illegal(option, text, least, most, null);
    }

    private static SampleUsageException illegal(
            SampleOption option,
            String text,
            int least,
            int most,
            @Nullable NumberFormatException cause) {
        return new SampleUsageException(
                Text.format(
                        "number is illegal: option=--%s, value=%s, expected=%d to %d",
                        option.longName(), ForeignText.escapeAndCut(text), least, most),
                cause);
    }

    /** One run; its callbacks run inside progress. */
    private static final class Program implements AutoCloseable {
        private final PrintStream out;
        private final Deadline deadline;
        private final int size;
        private final int iters;
        private final int pathMtuBytes;
        private final Mmap mmap;
        private final ProgressEngine engine;
        private final BufInventory inventory;
        private final Rdma rdma;
        private final InetAddress own;
        private final @Nullable InetAddress server;
        private final int port;
        private @Nullable RdmaSendTask send;
        private boolean sending;
        private int sent;
        private int received;
        private Status failure = Status.SUCCESS;
        private @Nullable WrongDataException wrongData;

        private Program(
                SampleSettings settings,
                PrintStream out,
                Deadline deadline,
                int size,
                Mmap mmap,
                ProgressEngine engine,
                BufInventory inventory,
                Rdma rdma) {
            this.out = out;
            this.deadline = deadline;
            this.size = size;
            this.mmap = mmap;
            this.engine = engine;
            this.inventory = inventory;
            this.rdma = rdma;
            iters = number(settings, ITERS, DEFAULT_ITERS, 1, Integer.MAX_VALUE);
            pathMtuBytes = number(settings, MTU, DEFAULT_MTU, MIN_MTU, MAX_MTU);
            port = number(settings, PORT, PingpongExchange.DEFAULT_PORT, 1, 0xffff);
            server = address(settings.value(ADDRESS));
            Device device = rdma.device();
            int index = RdmaSampleSettings.gidIndex(settings, device);
            own = RdmaCapabilities.of(device.info()).gidAddresses().get(index);
            RdmaCapabilities.requireProvider(device.info(), PROVIDER, "sample=rdma-pingpong");
            rdma.setProvider(PROVIDER).setGidIndex(index).setPathMtuBytes(pathMtuBytes);
        }

        private static @Nullable InetAddress address(@Nullable String text) {
            try {
                return text == null ? null : InetAddress.ofLiteral(text);
            } catch (IllegalArgumentException e) {
                throw new SampleUsageException(
                        Text.format(
                                "not an address: option=--%s, address=%s, expected=an IPv4 or IPv6"
                                        + " address",
                                ADDRESS.longName(), ForeignText.escapeAndCut(text)),
                        e);
            }
        }

        private void run() {
            rdma.setSendTasks(1, this::onSent, this::sendFailed)
                    .setReceiveTasks(RECEIVES, this::onReceived, this::receiveFailed)
                    .setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED);
            engine.connect(rdma);
            rdma.start();
            RdmaConnection made = rdma.exportConnection();
            connect(made);
            long begin = System.nanoTime();
            if (server != null) {
                sendNext();
            }
            engine.runUntil(this::isDone, deadline.remaining(), rdma);
            if (wrongData != null) {
                throw wrongData;
            }
            if (failure != Status.SUCCESS) {
                throw new DpuException(
                        failure,
                        Text.format(
                                "message has failed: sent=%d, received=%d, iters=%d, reason=%s",
                                sent, received, iters, made.failureReason()));
            }
            report(System.nanoTime() - begin);
        }

        /** Exchanges the queue pairs; a peer sends only once this side has posted its receives. */
        private void connect(RdmaConnection made) {
            RoceQueuePair here = RoceQueuePair.of(made);
            out.println("  local address:  " + line(here));
            InetAddress to = server;
            if (to == null) {
                try (PingpongExchange client =
                        PingpongExchange.accept(
                                new InetSocketAddress(own, port),
                                deadline,
                                bound ->
                                        out.println(
                                                Text.format(
                                                        "waiting for a client: address=%s,"
                                                                + " port=%d",
                                                        own.getHostAddress(), bound.getPort())))) {
                    establish(made, client.receive(pathMtuBytes, READ_LIMIT));
                    client.send(here);
                    client.receiveDone();
                }
            } else {
                try (PingpongExchange exchange =
                        PingpongExchange.connect(new InetSocketAddress(to, port), deadline)) {
                    exchange.send(here);
                    RoceQueuePair there = exchange.receive(pathMtuBytes, READ_LIMIT);
                    exchange.sendDone();
                    establish(made, there);
                }
            }
        }

        private static String line(RoceQueuePair queuePair) {
            String address = queuePair.gid().getHostAddress();
            return Text.format(
                    "LID 0x0000, QPN 0x%06x, PSN 0x%06x, GID %s",
                    queuePair.number(),
                    queuePair.firstPsn(),
                    address.indexOf(':') < 0 ? "::ffff:" + address : address);
        }

        private void establish(RdmaConnection made, RoceQueuePair peer) {
            out.println("  remote address: " + line(peer));
            // [part: connect]
            rdma.connect(peer.blob(), made);
            engine.start(rdma, deadline.remaining()); // until it is connected, which needs no peer
            // [end]
            for (int i = 0; i < RECEIVES; i++) {
                Buf destination = inventory.bufByAddress(mmap, size, size);
                rdma.allocateReceive(destination).submit();
            }
            send = rdma.allocateSend(made, inventory.bufByData(mmap, 0, size));
        }

        /** Sends a message if those before have gone and come. */
        private void sendNext() {
            RdmaSendTask task = send;
            if (task != null && !sending && sent < iters) {
                sending = true;
                task.submit();
            }
        }

        private void onSent(RdmaSendTask task) {
            sending = false;
            sent++;
            if (isMyTurn()) {
                sendNext();
            }
        }

        private void onReceived(RdmaReceiveTask task) {
            received++;
            Buf destination = task.destination();
            if (destination == null || task.resultLength() != size) {
                wrongData =
                        new WrongDataException(
                                Text.format(
                                        "message has another length: message=%d, lengthBytes=%d,"
                                                + " expected=%d, the --size of this side",
                                        received, task.resultLength(), size));
                free(task, destination);
                return;
            }
            destination.resetDataLength();
            task.submit();
            if (isMyTurn()) {
                sendNext();
            }
        }

        /** The client has sent as many as it has received, the server one less. */
        private boolean isMyTurn() {
            return server == null ? sent < received : sent == received;
        }

        /** Of a task of the run, or of a receive that is still posted at its end. */
        private void failed(Task task) {
            if (failure == Status.SUCCESS) {
                failure = task.status();
            }
        }

        private void sendFailed(RdmaSendTask task) {
            failed(task);
            send = null;
            free(task, task.source());
        }

        private void receiveFailed(RdmaReceiveTask task) {
            failed(task);
            free(task, task.destination());
        }

        private static void free(Task task, @Nullable Buf buf) {
            task.free();
            if (buf != null) {
                buf.release();
            }
        }

        private boolean isDone() {
            return wrongData != null
                    || failure != Status.SUCCESS
                    || (sent == iters && received == iters);
        }

        /** Frees the task that is not submitted; the stop of the context ends the others. */
        @Override
        public void close() {
            RdmaSendTask task = send;
            if (task != null && !sending) {
                send = null;
                free(task, task.source());
            }
        }

        private void report(long nanos) {
            double seconds = nanos / 1e9;
            long bytes = 2L * size * iters;
            out.println(
                    Text.format(
                            "%d bytes in %.2f seconds = %.2f Mbit/sec",
                            bytes, seconds, bytes * 8 / 1e6 / seconds));
            out.println(
                    Text.format(
                            "%d iters in %.2f seconds = %.2f usec/iter",
                            iters, seconds, seconds * 1e6 / iters));
        }
    }
}
