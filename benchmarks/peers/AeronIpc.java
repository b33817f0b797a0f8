import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.ShutdownSignalBarrier;

/**
 * Aeron IPC between two JVMs, with its driver in a third: {@code AeronIpc MODE FOLDER SIZE}. The
 * modes {@code driver}, {@code pong} and {@code receive} say "ready"; the latter two serve one
 * {@code ping} or {@code send}, which measures and prints. Messages are claimed and written in
 * place, which is quicker than to offer them.
 */
public final class AeronIpc {
    private static final String CHANNEL = "aeron:ipc?term-length=16m";
    private static final int THERE = 10;
    private static final int BACK = 20;
    private static final int FRAGMENTS = 64;
    private static final int ROUND_TRIPS = 300_000;
    private static final int MESSAGES = 10_000_000;

    private final ExclusivePublication out;
    private final Subscription in;
    private final int sizeBytes;
    private final BufferClaim claim = new BufferClaim();
    private long received;
    private final FragmentHandler handler = (_, _, _, _) -> received++;

    private AeronIpc(Aeron aeron, boolean measures, int sizeBytes) {
        out = aeron.addExclusivePublication(CHANNEL, measures ? THERE : BACK);
        in = aeron.addSubscription(CHANNEL, measures ? BACK : THERE);
        this.sizeBytes = sizeBytes;
    }

    /** Mode, folder of the driver, size of a message in bytes; the driver needs no size. */
    public static void main(String[] arguments) {
        String mode = arguments[0];
        String folder = arguments[1];
        if (mode.equals("driver")) {
            drive(folder);
            return;
        }
        boolean measures = mode.equals("ping") || mode.equals("send");
        try (Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(folder))) {
            AeronIpc ipc = new AeronIpc(aeron, measures, Integer.parseInt(arguments[2]));
            if (!measures) {
                System.out.println("ready");
            }
            while (!ipc.out.isConnected() || !ipc.in.isConnected()) {
                Thread.onSpinWait();
            }
            switch (mode) {
                case "ping" -> ipc.ping();
                case "pong" -> ipc.pong();
                case "send" -> ipc.sendAll();
                case "receive" -> ipc.receiveAll();
                default -> throw new IllegalArgumentException("no such mode: mode=" + mode);
            }
        }
    }

    private static void drive(String folder) {
        MediaDriver.Context context =
                new MediaDriver.Context()
                        .aeronDirectoryName(folder)
                        .threadingMode(ThreadingMode.SHARED)
                        .sharedIdleStrategy(new BackoffIdleStrategy())
                        .dirDeleteOnStart(true);
        try (ShutdownSignalBarrier end = new ShutdownSignalBarrier();
                MediaDriver _ = MediaDriver.launch(context)) {
            System.out.println("ready");
            end.await();
        }
    }

    private void ping() {
        long[] nanos = new long[Measurements.RUNS * ROUND_TRIPS];
        for (int i = 0; i < nanos.length; i++) {
            long begin = System.nanoTime();
            send();
            receive(1, 1);
            nanos[i] = System.nanoTime() - begin;
        }
        Measurements.printMedianRoundTrip(nanos);
    }

    private void pong() {
        for (int i = 0; i < Measurements.RUNS * ROUND_TRIPS; i++) {
            receive(1, 1);
            send();
        }
        awaitEnd();
    }

    private void sendAll() {
        long[] nanos = new long[Measurements.RUNS];
        for (int run = 0; run < Measurements.RUNS; run++) {
            long begin = System.nanoTime();
            for (int i = 0; i < MESSAGES; i++) {
                send();
            }
            receive(1, 1); // all are there
            nanos[run] = System.nanoTime() - begin;
        }
        Measurements.printMedianRate(MESSAGES, nanos);
    }

    private void receiveAll() {
        for (int run = 0; run < Measurements.RUNS; run++) {
            receive(MESSAGES, FRAGMENTS);
            send();
        }
        awaitEnd();
    }

    /** The last answer must be read before its publication goes. */
    private void awaitEnd() {
        while (in.isConnected()) {
            Thread.onSpinWait();
        }
    }

    private void send() {
        while (out.tryClaim(sizeBytes, claim) < 0) {
            Thread.onSpinWait();
        }
        claim.buffer().putLong(claim.offset(), sizeBytes);
        claim.commit();
    }

    private void receive(long messages, int fragments) {
        received = 0;
        while (received < messages) {
            in.poll(handler, fragments);
        }
    }
}
