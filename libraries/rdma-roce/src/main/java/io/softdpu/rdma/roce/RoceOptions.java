package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.TimeText;
import io.softdpu.rdma.roce.nic.Impairment;
import io.softdpu.rdma.roce.nic.NicOptions;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Options of the provider {@code roce} in this process: of all NICs that it opens, one for each
 * local address. An object has all of them and does not change; {@link #use} makes them those of
 * the process. Without that they are {@linkplain #ofEnvironment those of the environment}.
 *
 * <pre>{@code
 * RoceOptions.ofEnvironment().withAckTimeout(Duration.ofMillis(100)).withRetries(3).use();
 * }</pre>
 *
 * <p>Immutable. Any thread.
 */
public final class RoceOptions {
    /** Limit of {@link #retries}, which is that of the messages of connections. */
    public static final int MAX_RETRIES = 7;

    /** Limits of {@link #ackTimeout}. */
    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(4);

    private static final Duration LONGEST_TIMEOUT = Duration.ofSeconds(17);

    private static final int MIN_BUFFER_BYTES = 64 << 10;
    private static final int MAX_BUFFER_BYTES = 512 << 20; // of 1 GiB the kernel grants less

    private static final long TIME_UNIT_NANOS = 4096;

    private static final RoceOptions DEFAULTS = new RoceOptions(NicOptions.DEFAULTS, null);

    /** Without the capture. */
    private final NicOptions ofNic;

    private final @Nullable Path capture;

    private RoceOptions(NicOptions ofNic, @Nullable Path capture) {
        this.ofNic = ofNic;
        this.capture = capture;
    }

    // ---- of the process

    /** The defaults, without a look at the environment. */
    public static RoceOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The defaults, and what these environment variables say, where they are set and not empty:
     *
     * <ul>
     *   <li>{@code SOFTDPU_ROCE_ACK_TIMEOUT}, such as {@code 500ms}: {@link #withAckTimeout}
     *   <li>{@code SOFTDPU_ROCE_RETRIES}: {@link #withRetries}
     *   <li>{@code SOFTDPU_ROCE_RECEIVE_BUFFER}, {@code SOFTDPU_ROCE_SEND_BUFFER}, in bytes: {@link
     *       #withReceiveBuffer}, {@link #withSendBuffer}
     *   <li>{@code SOFTDPU_ROCE_IMPAIR}: {@link #withImpairment}
     *   <li>{@code SOFTDPU_ROCE_PCAP}, with {@code %p} for the number of the process: {@link
     *       #withCapture}
     * </ul>
     *
     * @throws DpuException INVALID_VALUE for an illegal value, naming the variable
     */
    public static RoceOptions ofEnvironment() {
        return RoceEnvironment.read(System.getenv());
    }

    /**
     * The options of this process: those that were last {@linkplain #use used}, else those of the
     * environment.
     *
     * @throws DpuException as {@link #ofEnvironment}
     */
    public static RoceOptions current() {
        return RoceProcess.options();
    }

    /**
     * Makes these the options of this process, for all NICs that it opens from now on, and creates
     * the file of their capture. The one before ends; whether it lacks packets is logged, and
     * thrown by {@link #endCapture} alone, which a program calls before to learn it.
     *
     * @throws DpuException BAD_STATE if a NIC is open: as long as there is a connection, or an
     *     instance that listens, with the provider {@code roce}; IO_FAILED if the file cannot be
     *     written. Then the options are those before; their capture has ended if it has this file
     */
    public void use() {
        RoceProcess.use(this);
    }

    /**
     * Ends the capture of this process: closes its file. What is sent and received later is not in
     * it. Does nothing without a capture.
     *
     * @throws DpuException IO_FAILED if packets are missing, since the file could not be written
     */
    public static void endCapture() {
        RoceProcess.endCapture();
    }

    /** For a NIC, without the capture. */
    NicOptions ofNic() {
        return ofNic;
    }

    // ---- the options

    /**
     * The same with another limit of the time until a packet without an acknowledgement is
     * retransmitted; the first retransmissions wait less. It is rounded up to 4.096 µs times a
     * power of two.
     *
     * @param timeout 4 ms to 17 s; 537 ms by default
     * @throws DpuException INVALID_VALUE for another one
     */
    public RoceOptions withAckTimeout(Duration timeout) {
        Duration given = Arguments.notNull(timeout, "timeout");
        return withAckTimeout("call=withAckTimeout", given, given.toString());
    }

    RoceOptions withAckTimeout(String source, @Nullable Duration timeout, String text) {
        if (timeout == null
                || timeout.compareTo(SHORTEST_TIMEOUT) < 0
                || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
            throw illegal(
                    "timeout of an acknowledgement",
                    source,
                    "timeout",
                    text,
                    "4ms to 17s, such as 500ms");
        }
        int code = 0;
        while (TIME_UNIT_NANOS << code < timeout.toNanos()) {
            code++;
        }
        return new RoceOptions(ofNic.withAckTimeout(code), capture);
    }

    /** The longest time until a packet is retransmitted. */
    public Duration ackTimeout() {
        return Duration.ofNanos(TIME_UNIT_NANOS << ofNic.ackTimeout());
    }

    /**
     * The same with another number of retransmissions: a connection fails if (retries + 1) times
     * {@link #ackTimeout} have passed without an answer.
     *
     * @param retries 0 to {@value #MAX_RETRIES}, which is the default
     * @throws DpuException INVALID_VALUE for another one
     */
    public RoceOptions withRetries(int retries) {
        return withRetries("call=withRetries", retries, Integer.toString(retries));
    }

    RoceOptions withRetries(String source, int retries, String text) {
        if (retries < 0 || retries > MAX_RETRIES) {
            throw illegal("number of retries", source, "retries", text, "0 to " + MAX_RETRIES);
        }
        return new RoceOptions(ofNic.withRetries(retries), capture);
    }

    /** Retransmissions of a packet before its connection fails. */
    public int retries() {
        return ofNic.retries();
    }

    /**
     * The same with another buffer for packets that wait for the NIC. Where the system grants less,
     * as {@code net.core.rmem_max} says, a warning is logged, unless it is the default.
     *
     * @param bytes 64 KiB to 512 MiB; 4 MiB by default
     * @throws DpuException INVALID_VALUE for another one
     */
    public RoceOptions withReceiveBuffer(int bytes) {
        return withReceiveBuffer("call=withReceiveBuffer", bytes, Integer.toString(bytes));
    }

    RoceOptions withReceiveBuffer(String source, int bytes, String text) {
        int checked = requireBuffer(source, bytes, text);
        return new RoceOptions(ofNic.withReceiveBuffer(checked), capture);
    }

    /** Room for packets that wait for the NIC. */
    public int receiveBuffer() {
        return ofNic.receiveBufferBytes();
    }

    /**
     * The same with another buffer for packets that wait for the network, which {@code
     * net.core.wmem_max} limits.
     *
     * @param bytes as for {@link #withReceiveBuffer}
     * @throws DpuException INVALID_VALUE for another one
     */
    public RoceOptions withSendBuffer(int bytes) {
        return withSendBuffer("call=withSendBuffer", bytes, Integer.toString(bytes));
    }

    RoceOptions withSendBuffer(String source, int bytes, String text) {
        int checked = requireBuffer(source, bytes, text);
        return new RoceOptions(ofNic.withSendBuffer(checked), capture);
    }

    /** Room for packets that wait for the network. */
    public int sendBuffer() {
        return ofNic.sendBufferBytes();
    }

    /**
     * The same with an impairment of the packets that are sent, as a bad network would: items
     * separated by commas, each at most once.
     *
     * <ul>
     *   <li>{@code loss}, {@code dup}, {@code reorder}, {@code corrupt}: the probability from 0 to
     *       1 that a packet is lost, sent twice, sent behind up to three later ones (1 ms later if
     *       none follow), or sent with a bit that is another
     *   <li>{@code delay}: a time up to 10 s by which each packet is sent later, such as {@code
     *       200us}
     *   <li>{@code partition}: two times since the first packet of the NIC, such as {@code
     *       1s-1500ms}, between which all packets are lost
     *   <li>{@code seed}: a whole number, 1 by default; with the same one the same packets of an
     *       address have the same fate, a partition excepted
     * </ul>
     *
     * @param items such as {@code loss=0.01,dup=0.01,seed=7}
     * @throws DpuException INVALID_VALUE for illegal ones
     */
    public RoceOptions withImpairment(String items) {
        return withImpairment("call=withImpairment", Arguments.notNull(items, "items"));
    }

    RoceOptions withImpairment(String source, String items) {
        return new RoceOptions(ofNic.withImpairment(Impairment.parse(source, items)), capture);
    }

    /** The items of the impairment; empty without one. */
    public String impairment() {
        Impairment impairment = ofNic.impairment();
        return impairment == null ? "" : impairment.toString();
    }

    /**
     * The same with a capture of all packets of this process, both directions, in the format pcap:
     * each as it goes to the network and comes from it, with an impairment what is left of it. The
     * file is replaced if it is a regular one. {@code softdpu packets FILE} explains it.
     *
     * <p>It costs time for each packet, and is not for measurements. A file that cannot be written
     * any more is logged, and {@link #endCapture} throws.
     */
    public RoceOptions withCapture(Path file) {
        return new RoceOptions(ofNic, Arguments.notNull(file, "file").toAbsolutePath());
    }

    /** The file of the capture; null without one. */
    public @Nullable Path capture() {
        return capture;
    }

    private static int requireBuffer(String source, int bytes, String text) {
        if (bytes < MIN_BUFFER_BYTES || bytes > MAX_BUFFER_BYTES) {
            throw illegal(
                    "size of a buffer",
                    source,
                    "bytes",
                    text,
                    MIN_BUFFER_BYTES + " to " + MAX_BUFFER_BYTES);
        }
        return bytes;
    }

    private static DpuException illegal(
            String what, String source, String key, String value, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                what
                        + " is illegal: "
                        + source
                        + ", "
                        + key
                        + "="
                        + ForeignText.escapeAndCut(value)
                        + ", expected="
                        + expected);
    }

    /** For messages. */
    @Override
    public String toString() {
        return "ackTimeout="
                + TimeText.of(ackTimeout())
                + ", retries="
                + retries()
                + ", receiveBufferBytes="
                + receiveBuffer()
                + ", sendBufferBytes="
                + sendBuffer()
                + ", impairment="
                + (impairment().isEmpty() ? "none" : impairment())
                + ", capture="
                + (capture == null ? "none" : capture);
    }
}
