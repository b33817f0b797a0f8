import java.io.File;
import java.nio.MappedByteBuffer;
import org.agrona.IoUtil;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

/**
 * Agrona's {@code OneToOneRingBuffer} between two JVMs, one each way in a mapped file: {@code
 * AgronaRing MODE FILE SIZE}. The modes {@code pong} and {@code receive} make the file, say "ready"
 * and serve one {@code ping} or {@code send}, which measures and prints.
 */
public final class AgronaRing {
    private static final int RING_BYTES = (1 << 20) + RingBufferDescriptor.TRAILER_LENGTH;
    private static final int ROUND_TRIPS = 500_000;
    private static final int MESSAGES = 3_000_000;

    private final OneToOneRingBuffer out;
    private final OneToOneRingBuffer in;
    private final UnsafeBuffer message;
    private long received;

    /** Looks at the message, as a program would that got it. */
    private final MessageHandler handler =
            (_, buffer, index, _) -> received += buffer.getLong(index) == -1 ? 0 : 1;

    private AgronaRing(MappedByteBuffer file, boolean measures, int sizeBytes) {
        OneToOneRingBuffer there = new OneToOneRingBuffer(new UnsafeBuffer(file, 0, RING_BYTES));
        OneToOneRingBuffer back =
                new OneToOneRingBuffer(new UnsafeBuffer(file, RING_BYTES, RING_BYTES));
        out = measures ? there : back;
        in = measures ? back : there;
        message = new UnsafeBuffer(new byte[sizeBytes]);
    }

    /** Mode, file, size of a message in bytes. */
    public static void main(String[] arguments) {
        String mode = arguments[0];
        File file = new File(arguments[1]);
        boolean measures = mode.equals("ping") || mode.equals("send");
        MappedByteBuffer mapped =
                measures
                        ? IoUtil.mapExistingFile(file, "ring")
                        : IoUtil.mapNewFile(file, 2L * RING_BYTES);
        AgronaRing ring = new AgronaRing(mapped, measures, Integer.parseInt(arguments[2]));
        if (!measures) {
            System.out.println("ready");
        }
        switch (mode) {
            case "ping" -> ring.ping();
            case "pong" -> ring.pong();
            case "send" -> ring.sendAll();
            case "receive" -> ring.receiveAll();
            default -> throw new IllegalArgumentException("no such mode: mode=" + mode);
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
            receive(MESSAGES, Integer.MAX_VALUE);
            send();
        }
    }

    private void send() {
        while (!out.write(1, message, 0, message.capacity())) {
            Thread.onSpinWait();
        }
    }

    private void receive(long messages, int atOnce) {
        received = 0;
        while (received < messages) {
            in.read(handler, atOnce);
        }
    }
}
