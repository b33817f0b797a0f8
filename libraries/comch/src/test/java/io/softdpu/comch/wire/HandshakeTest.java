package io.softdpu.comch.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakeTest {
    private static final Hello HELLO = new Hello(ChannelTerms.of(4080, 100), "host/pf0", "storage");
    private static final byte[] HELLO_BYTES =
            HexFormat.of()
                    .parseHex(
                            "434d4348"
                                    + "0200"
                                    + "0100"
                                    + "f00f0000"
                                    + "64000000"
                                    + "80000000"
                                    + "f00f0000"
                                    + "08000000"
                                    + "07000000"
                                    + "686f73742f706630"
                                    + "73746f72616765");
    private static final Welcome WELCOME = new Welcome(ChannelTerms.of(64, 1));
    private static final byte[] WELCOME_BYTES =
            HexFormat.of()
                    .parseHex(
                            "434d4348"
                                    + "0200"
                                    + "0200"
                                    + "40000000"
                                    + "01000000"
                                    + "10000000"
                                    + "a8000000");
    private static final ValueLayout.OfInt U32 =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Test
    void shouldEncodeHelloToGoldenBytes() {
        assertThat(HELLO.sizeBytes()).isEqualTo(HELLO_BYTES.length);
        byte[] target = filled(HELLO_BYTES.length + 8);
        HELLO.encode(MemorySegment.ofArray(target));
        assertThat(Arrays.copyOf(target, HELLO_BYTES.length)).isEqualTo(HELLO_BYTES);
        assertThat(Arrays.copyOfRange(target, HELLO_BYTES.length, target.length))
                .isEqualTo(filled(8));
        assertThat(HELLO.toBytes()).isEqualTo(HELLO_BYTES);
    }

    @Test
    void shouldDecodeHelloFromGoldenBytes() {
        assertThat(Hello.decode(HELLO_BYTES)).isEqualTo(HELLO);
    }

    @Test
    void shouldEncodeWelcomeToGoldenBytes() {
        byte[] target = filled(WELCOME_BYTES.length + 8);
        WELCOME.encode(MemorySegment.ofArray(target));
        assertThat(Arrays.copyOf(target, WELCOME_BYTES.length)).isEqualTo(WELCOME_BYTES);
        assertThat(Arrays.copyOfRange(target, WELCOME_BYTES.length, target.length))
                .isEqualTo(filled(8));
        assertThat(WELCOME.toBytes()).isEqualTo(WELCOME_BYTES);
    }

    @Test
    void shouldDecodeWelcomeFromGoldenBytes() {
        assertThat(Welcome.decode(WELCOME_BYTES)).isEqualTo(WELCOME);
    }

    @Test
    void shouldRefuseEachTruncationOfHello() {
        for (int length = 0; length < HELLO_BYTES.length; length++) {
            byte[] truncated = Arrays.copyOf(HELLO_BYTES, length);
            assertStatus(() -> Hello.decode(truncated), Status.INVALID_VALUE);
        }
    }

    @Test
    void shouldRefuseBytesBehindHelloAndWelcome() {
        assertStatus(
                () -> Hello.decode(Arrays.copyOf(HELLO_BYTES, HELLO_BYTES.length + 1)),
                Status.INVALID_VALUE);
        assertStatus(
                () -> Welcome.decode(Arrays.copyOf(WELCOME_BYTES, WELCOME_BYTES.length + 1)),
                Status.INVALID_VALUE);
        assertStatus(
                () -> Welcome.decode(Arrays.copyOf(WELCOME_BYTES, WELCOME_BYTES.length - 1)),
                Status.INVALID_VALUE);
    }

    /** A negative length behind one that is too long may add up to the length of the whole. */
    @Test
    void shouldRefuseLengthsThatAddUpButReachBeyondTheHello() {
        byte[] hello = HELLO_BYTES.clone();
        MemorySegment bytes = MemorySegment.ofArray(hello);
        bytes.set(U32, 24, 128);
        bytes.set(U32, 28, hello.length - 32 - 128);
        assertStatus(() -> Hello.decode(hello), Status.INVALID_VALUE);
    }

    @Test
    void shouldRefuseAnotherVersionByName() {
        byte[] other = HELLO_BYTES.clone();
        other[4] = 1;
        assertThatThrownBy(() -> Hello.decode(other))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.UNSUPPORTED_VERSION))
                .hasMessageContaining("version=1");
    }

    @Test
    void shouldNotTakeWelcomeForHello() {
        assertStatus(() -> Hello.decode(WELCOME_BYTES), Status.INVALID_VALUE);
        byte[] hello = Arrays.copyOf(HELLO_BYTES, Welcome.WIRE_BYTES);
        assertStatus(() -> Welcome.decode(hello), Status.INVALID_VALUE);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0", // magic
        "8, 0", // max message size
        "8, 4081",
        "8, -1",
        "12, 0", // receive queue
        "12, 1025",
        "12, -1",
        "16, 0", // slots
        "16, 96",
        "16, 64",
        "16, 256",
        "16, -2147483648",
        "20, 0", // payload of a slot
        "20, 4079",
        "20, 1048576",
        "20, -1",
        "24, 0", // function length
        "24, 9",
        "24, -1",
        "24, 2147483647",
        "28, 0", // name length
        "28, 8",
        "28, -1",
        "28, 2147483647"
    })
    void shouldRefuseIllegalFieldOfHello(int offset, int value) {
        byte[] bytes = HELLO_BYTES.clone();
        MemorySegment.ofArray(bytes).set(U32, offset, value);
        assertStatus(() -> Hello.decode(bytes), Status.INVALID_VALUE);
    }

    @Test
    void shouldRefuseTextThatIsNotUtf8() {
        byte[] bytes = HELLO_BYTES.clone();
        bytes[bytes.length - 1] = (byte) 0xff;
        assertStatus(() -> Hello.decode(bytes), Status.INVALID_VALUE);
        bytes[bytes.length - 1] = 0;
        assertStatus(() -> Hello.decode(bytes), Status.INVALID_VALUE);
    }

    @Clause("cc-059")
    @ParameterizedTest
    @ValueSource(strings = {"", "a\0b", "\ud800"})
    void shouldRefuseIllegalServerName(String name) {
        assertStatus(() -> Hello.requireLegalName(name), Status.INVALID_VALUE);
    }

    @Clause("cc-074")
    @Test
    void shouldCountServerNameInBytes() {
        Hello.requireLegalName("x".repeat(119));
        assertStatus(() -> Hello.requireLegalName("x".repeat(120)), Status.INVALID_VALUE);
        Hello.requireLegalName("\u00e4".repeat(59));
        assertStatus(() -> Hello.requireLegalName("\u00e4".repeat(60)), Status.INVALID_VALUE);
    }

    @Test
    void shouldRefuseRingThatDoesNotFitTheTerms() {
        assertStatus(
                () -> new ChannelTerms(64, 100, new MessageRing.Geometry(64, 168)),
                Status.INVALID_VALUE);
        assertThat(ChannelTerms.of(64, 100).ring()).isEqualTo(new MessageRing.Geometry(128, 168));
    }

    private static byte[] filled(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 0xa5);
        return bytes;
    }

    private static void assertStatus(
            org.assertj.core.api.ThrowableAssert.ThrowingCallable call, Status status) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status));
    }

    @Test
    void shouldTakeTheLeastAndTheMostOfEachFieldAndNothingBeyond() {
        ChannelTerms least = ChannelTerms.of(1, 1);
        ChannelTerms most =
                ChannelTerms.of(ChannelLimits.MAX_MESSAGE_BYTES, ChannelLimits.MAX_RECEIVE_QUEUE);
        Hello shortest = new Hello(least, "h", "s");
        Hello longest = new Hello(most, "h".repeat(128), "s".repeat(ChannelLimits.MAX_NAME_BYTES));

        for (Hello hello : List.of(shortest, longest)) {
            assertThat(Hello.decode(hello.toBytes())).isEqualTo(hello);
        }
        assertThatThrownBy(() -> ChannelTerms.of(0, 1)).hasMessageContaining("maxMessageBytes=0");
        assertThatThrownBy(() -> new ChannelTerms(4081, 1, most.ring()))
                .hasMessageContaining("maxMessageBytes=4081, expected=1 to 4080");
        assertThatThrownBy(() -> new ChannelTerms(1, 1025, most.ring()))
                .hasMessageContaining("receiveQueue=1025, expected=1 to 1024");
        assertThatThrownBy(() -> new ChannelTerms(1, 0, most.ring()))
                .hasMessageContaining("receiveQueue=0");
        assertThatThrownBy(() -> new Hello(least, "", "s"))
                .hasMessage("function refused: bytes=0, expected=1 to 128");
        assertThatThrownBy(() -> new Hello(least, "h".repeat(129), "s"))
                .hasMessage("function refused: bytes=129, expected=1 to 128");
        assertThatThrownBy(() -> new Hello(least, "h", "s".repeat(120)))
                .hasMessage("server name refused: bytes=120, expected=1 to 119");
        assertThatThrownBy(() -> new Hello(least, "\0", "s"))
                .hasMessageContaining("function holds a NUL");
    }

    @Test
    void shouldSayWhichLengthOfANameThePayloadLeaves() {
        byte[] hello = HELLO_BYTES.clone();
        MemorySegment.ofArray(hello).set(U32, 28, 6);

        assertThatThrownBy(() -> Hello.decode(hello))
                .hasMessageContainingAll("nameLength", "6", "7");
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 4", "4, 4", "5, 8", "1025, 2048", "1073741824, 1073741824"})
    void shouldRoundUpToAPowerOfTwo(int value, int rounded) {
        assertThat(ChannelLimits.roundUpToPowerOfTwo(value)).isEqualTo(rounded);
    }
}
