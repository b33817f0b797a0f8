package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.nic.BareNic;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.ProcessLimit;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Program that has too little of a resource while it makes a NIC, and enough when it tries again.
 * Prints a line per failure, and one that begins with PROBLEM for each unexpected result.
 */
final class ExhaustionProgram {
    private static final Gid ADDRESS = Gid.ofAddress(new byte[] {127, 99, 0, 7});
    private static final int ENOUGH = 50;
    private static final int MESSAGE_BYTES = 100;

    private static final Pattern NO_DESCRIPTOR =
            Pattern.compile("\\bEMFILE\\b|\\bToo many open files\\b");
    private static final Pattern NO_THREAD = Pattern.compile("\\bnative thread\\b");

    private final ProcessLimit limit;
    private final Path folder;
    private boolean failed;

    private ExhaustionProgram(ProcessLimit limit, Path folder) {
        this.limit = limit;
        this.folder = folder;
    }

    /** Call of a program that makes something of the NIC. */
    private enum Call {
        /** The export of a connection: a socket. */
        EXPORT,
        /** The connection: a thread and what it sleeps by. */
        CONNECT
    }

    /** Arguments: the limit, the folder. */
    public static void main(String[] arguments) throws Throwable {
        ProcessLimit.prepare();
        ProcessLimit limit = ProcessLimit.valueOf(arguments[0]);
        ExhaustionProgram program = new ExhaustionProgram(limit, Path.of(arguments[1]));
        switch (limit) {
            case DESCRIPTORS -> program.connectWithFewDescriptors();
            case ADDRESS_SPACE -> program.startWithoutAThread();
        }
        System.out.println("DONE");
    }

    private void connectWithFewDescriptors() throws Throwable {
        for (Call call : Call.values()) {
            for (int i = 0; i < 2; i++) { // what is made at the first use stays
                connect(call, ENOUGH);
            }
            int free = 0;
            do {
                failed = false;
                LeakCheck before = LeakCheck.begin(folder);
                connect(call, free);
                before.assertNothingLeft();
                free++;
            } while (failed && free < ENOUGH);
            if (free == 1 || failed) {
                System.out.println("PROBLEM " + call + ": tried=" + free + ", failed=" + failed);
            }
        }
    }

    /** Connects two parties, with so many free descriptors during a call of one of them. */
    private void connect(Call limited, int free) throws Throwable {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toNear = far.export();
            RdmaConnection toFar =
                    limited == Call.EXPORT
                            ? underLimit(limited.name(), free, near::export)
                            : near.export();
            Supplier<RdmaConnection> connect =
                    () -> {
                        near.connect(toFar, toNear.blob());
                        return toFar;
                    };
            RdmaConnection _ =
                    limited == Call.CONNECT
                            ? underLimit(limited.name(), free, connect)
                            : connect.get();
            far.connect(toNear, toFar.blob());
            Party.drive(
                    "connection",
                    () ->
                            toFar.state() == RdmaConnection.State.CONNECTED
                                    && toNear.state() == RdmaConnection.State.CONNECTED,
                    near,
                    far);
            Status received = far.receive(MESSAGE_BYTES);
            Status sent = near.send(toFar, MESSAGE_BYTES);
            Party.drive("a message", () -> !far.results.isEmpty(), near, far);
            if (received != Status.SUCCESS || sent != Status.SUCCESS) {
                System.out.println("PROBLEM receive=" + received + ", send=" + sent);
            }
        }
    }

    private void startWithoutAThread() throws Throwable {
        for (int i = 0; i < 2; i++) { // the first shows what is made once
            LeakCheck before = LeakCheck.begin(folder);
            try (BareNic nic = new BareNic(ADDRESS)) {
                Object _ =
                        underLimit(
                                "START",
                                0,
                                () -> {
                                    nic.start();
                                    return nic;
                                });
            }
            if (i > 0) {
                before.assertNothingLeft();
            }
        }
        if (!failed) {
            System.out.println("PROBLEM START: thread was started without memory");
        }
    }

    /** The result of a call; if it fails under the limit, that of the next, without one. */
    private <T> T underLimit(String name, int free, Supplier<T> call) throws Throwable {
        DpuException failure;
        limit.lower(free);
        try {
            return call.get();
        } catch (DpuException e) {
            failure = e;
        } finally {
            limit.raise();
        }
        report(name, free, failure);
        return call.get();
    }

    private void report(String name, int free, DpuException failure) {
        failed = true;
        String message = String.valueOf(failure.getMessage());
        System.out.println(name + " free=" + free + " " + failure.status() + ": " + message);
        Pattern named = limit == ProcessLimit.DESCRIPTORS ? NO_DESCRIPTOR : NO_THREAD;
        if (!named.matcher(message).find()) {
            System.out.println("PROBLEM " + name + ": it does not say what is missing: " + message);
        }
    }
}
