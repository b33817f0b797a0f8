package io.softdpu.fuzz;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.comch.wire.Welcome;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The frames of the bus's handshake, which are package-private in fabric. */
public final class Frames {
    /** What is received into: what lies behind the frame must not matter. */
    private static final byte[] BUFFER = new byte[2 * Frame.MAX_BYTES];

    private Frames() {}

    /** Decodes a datagram, and what the Comm Channel has put into it. */
    public static void check(byte[] datagram) {
        Frame frame = Refused.orValue(() -> decode(datagram));
        if (frame == null) {
            return;
        }
        // A reason is text for people: what is no UTF-8 in it is replaced, and stays so.
        if (frame instanceof Frame.Refuse refuse) {
            requireTextReturns(refuse);
        } else {
            Refused.requireSame("frame", datagram, Frame.encode(frame));
        }
        switch (frame) {
            case Frame.Hello(long _, byte[] payload) -> checkHello(payload);
            case Frame.Welcome(long _, byte[] payload) -> checkWelcome(payload);
            case Frame.Refuse _, Frame.Lease _, Frame.Grant _ -> {}
        }
    }

    private static void requireTextReturns(Frame.Refuse refuse) {
        byte[] cut = Frame.encode(refuse);
        Frame.Refuse again = (Frame.Refuse) decode(cut);
        if (again.code() != refuse.code()
                || again.text().length() > refuse.text().length()
                || !again.text().startsWith(withoutLast(refuse.text(), again.text().length()))) {
            throw new AssertionError("reason came back as another: sent=" + refuse);
        }
    }

    /** Where the text was cut its last character may have been halved. */
    private static String withoutLast(String text, int length) {
        return length == text.length() ? text : text.substring(0, Math.max(0, length - 2));
    }

    private static void checkHello(byte[] payload) {
        Hello hello = Refused.orValue(() -> Hello.decode(payload));
        if (hello != null) {
            Refused.requireSame("hello", payload, hello.toBytes());
        }
    }

    private static void checkWelcome(byte[] payload) {
        Welcome welcome = Refused.orValue(() -> Welcome.decode(payload));
        if (welcome != null) {
            Refused.requireSame("welcome", payload, welcome.toBytes());
        }
    }

    /** Values whose frames have to come back. */
    public static void checkHello(long memoryBytes, Hello hello) {
        Frame.Hello sent = new Frame.Hello(memoryBytes, hello.toBytes());
        Frame.Hello came = (Frame.Hello) decode(Frame.encode(sent));
        Refused.requireSame("payload", sent.payload(), came.payload());
        if (came.memoryBytes() != memoryBytes || !Hello.decode(came.payload()).equals(hello)) {
            throw new AssertionError("hello came back as another: sent=" + hello);
        }
    }

    /** Values whose frames have to come back. */
    public static void checkWelcome(long memoryBytes, ChannelTerms terms) {
        Welcome welcome = new Welcome(terms);
        Frame.Welcome came =
                (Frame.Welcome)
                        decode(Frame.encode(new Frame.Welcome(memoryBytes, welcome.toBytes())));
        if (came.memoryBytes() != memoryBytes || !Welcome.decode(came.payload()).equals(welcome)) {
            throw new AssertionError("welcome came back as another: sent=" + welcome);
        }
    }

    /** Values whose frames have to come back. */
    public static void checkRefuse(int code, String text) {
        requireTextReturns(new Frame.Refuse(code, text));
    }

    /** Values whose frames have to come back. */
    public static void checkLease(long regionId, long high, long low, boolean writable) {
        Frame sent = new Frame.Lease(regionId, new RegionAddress.Id(high, low), writable);
        Refused.requireReturns(sent, frame -> decode(Frame.encode(frame)));
    }

    /** Values whose frames have to come back. */
    public static void checkGrant(long sizeBytes, boolean writable, long[] generations) {
        Frame.Grant came =
                (Frame.Grant)
                        decode(Frame.encode(new Frame.Grant(sizeBytes, writable, generations)));
        if (came.sizeBytes() != sizeBytes
                || came.writable() != writable
                || !Arrays.equals(came.generations(), generations)) {
            throw new AssertionError("grant came back as another: sizeBytes=" + sizeBytes);
        }
    }

    private static Frame decode(byte[] datagram) {
        Arrays.fill(BUFFER, (byte) 0xa5);
        int length = Math.min(datagram.length, BUFFER.length);
        System.arraycopy(datagram, 0, BUFFER, 0, length);
        return Frame.decode(MemorySegment.ofArray(BUFFER), length);
    }
}
