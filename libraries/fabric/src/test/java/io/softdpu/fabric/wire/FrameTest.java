package io.softdpu.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class FrameTest {
    private static final String HELLO =
            "53445055 0100 0100 23000000 00000000" // magic, version, type, length, reserved
                    + "0010000000000000 03000000 00000000 010203";
    private static final String REFUSE =
            "53445055 0100 0300 1b000000 00000000" + "18000000 03000000 6e6f21";
    private static final String LEASE =
            "53445055 0100 0400 30000000 00000000"
                    + "0700000000000000 8877665544332211 0100000000000000 01 00000000000000";
    private static final String GRANT =
            "53445055 0100 0500 30000000 00000000"
                    + "0020000000000000 01 02 000000000000 0100000000000000 0500000000000000";

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", ""));
    }

    private static Frame decode(byte[] frame) {
        // what lies behind the frame in the receive buffer must not matter
        byte[] buffer = new byte[Frame.MAX_BYTES];
        Arrays.fill(buffer, (byte) 0xa5);
        System.arraycopy(frame, 0, buffer, 0, frame.length);
        return Frame.decode(MemorySegment.ofArray(buffer), frame.length);
    }

    @Test
    void shouldEncodeEveryFrameAsDocumented() {
        assertThat(Frame.encode(new Frame.Hello(4096, new byte[] {1, 2, 3})))
                .containsExactly(hex(HELLO));
        assertThat(Frame.encode(new Frame.Welcome(4096, new byte[] {1, 2, 3})))
                .containsExactly(hex(HELLO.replaceFirst("0100 0100", "0100 0200")));
        assertThat(Frame.encode(new Frame.Refuse(24, "no!"))).containsExactly(hex(REFUSE));
        assertThat(
                        Frame.encode(
                                new Frame.Lease(
                                        7, new RegionAddress.Id(0x1122334455667788L, 1), true)))
                .containsExactly(hex(LEASE));
        assertThat(Frame.encode(new Frame.Grant(8192, true, new long[] {1, 5})))
                .containsExactly(hex(GRANT));
    }

    @Test
    void shouldRefuseReservedBytesThatAreNotZero() {
        for (String spoilt :
                new String[] {
                    HELLO.replace("03000000 00000000 010203", "03000000 00000001 010203"),
                    LEASE.replace(" 01 00000000000000", " 01 00000000000001"),
                    GRANT.replace(" 01 02 000000000000", " 01 02 000100000000")
                }) {
            assertThatThrownBy(() -> decode(hex(spoilt)))
                    .as(spoilt)
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("field=reserved");
        }
    }

    @Test
    void shouldDecodeEveryFrameAsDocumented() {
        assertThat(decode(hex(HELLO)))
                .isInstanceOfSatisfying(
                        Frame.Hello.class,
                        hello -> {
                            assertThat(hello.memoryBytes()).isEqualTo(4096);
                            assertThat(hello.payload()).containsExactly(1, 2, 3);
                        });
        assertThat(decode(hex(REFUSE))).isEqualTo(new Frame.Refuse(24, "no!"));
        assertThat(decode(hex(LEASE)))
                .isEqualTo(new Frame.Lease(7, new RegionAddress.Id(0x1122334455667788L, 1), true));
        assertThat(decode(hex(GRANT)))
                .isInstanceOfSatisfying(
                        Frame.Grant.class,
                        grant -> {
                            assertThat(grant.sizeBytes()).isEqualTo(8192);
                            assertThat(grant.writable()).isTrue();
                            assertThat(grant.generations()).containsExactly(1, 5);
                        });
    }

    @Test
    void shouldNameTheFieldThatWasWrong() {
        String[][] cases = {
            {"54445055", "53445055", "field=magic"},
            {"53445055 0200", "53445055 0100", "field=version"},
            {"0100 0900", "0100 0100", "field=type"},
            {"24000000", "23000000", "field=frame length"},
            {"23000000 01000000", "23000000 00000000", "field=reserved"},
            {"0000000000000000 03", "0010000000000000 03", "field=size"},
            {"00100000000000ff 03", "0010000000000000 03", "field=size"},
            {"04000000 00000000 010203", "03000000 00000000 010203", "field=body"},
            {"ff1f0000 00000000 010203", "03000000 00000000 010203", "field=block length"},
        };
        for (String[] one : cases) {
            byte[] frame = hex(HELLO.replaceFirst(one[1], one[0]));
            assertThatThrownBy(() -> decode(frame))
                    .as(one[2])
                    .isInstanceOfSatisfying(
                            FabricException.class,
                            e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.MALFORMED))
                    .hasMessageContaining(one[2]);
        }
        assertThatThrownBy(() ->
                        decode(hex(LEASE.replaceFirst("01 00000000000000$", "02 00000000000000"))))
                .hasMessageContaining("field=flag");
        assertThatThrownBy(() -> decode(hex(GRANT.replaceFirst(" 01 02 ", " 01 03 "))))
                .hasMessageContaining("field=generations");
    }

    @Test
    void shouldRefuseOrDecodeButNeverFailOtherwise(SeededRandom random) {
        byte[][] good = {hex(HELLO), hex(REFUSE), hex(LEASE), hex(GRANT)};
        int decoded = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] frame = good[random.nextInt(good.length)].clone();
            for (int flips = random.nextInt(4); flips >= 0; flips--) {
                frame[random.nextInt(frame.length)] = (byte) random.nextInt(256);
            }
            int length = random.nextInt(10) == 0 ? random.nextInt(frame.length + 1) : frame.length;
            try {
                decode(Arrays.copyOf(frame, length));
                decoded++;
            } catch (FabricException e) {
                if (e.kind() != FabricException.Kind.MALFORMED) {
                    throw e;
                }
            }
        }
        assertThat(decoded).as("some mutations hit payload only").isPositive();
    }

    @Test
    void shouldCutALongReasonInsteadOfFailing() {
        byte[] frame = Frame.encode(new Frame.Refuse(1, "x".repeat(5000)));
        assertThat(((Frame.Refuse) decode(frame)).text()).hasSize(Frame.MAX_TEXT_BYTES);
    }

    @Test
    void shouldEncodeAndDecodeARegionAddressAsDocumented() {
        RegionAddress address =
                new RegionAddress(
                        new RegionAddress.Id(1, 2),
                        new RegionAddress.Id(3, 4),
                        new RegionAddress.Id(5, 6),
                        7,
                        new RegionAddress.Id(8, 9),
                        10);
        byte[] bytes = new byte[RegionAddress.WIRE_BYTES + 2];
        Arrays.fill(bytes, (byte) 0xa5);
        address.encode(MemorySegment.ofArray(bytes), 1);
        StringBuilder expected = new StringBuilder("a5");
        for (int i = 1; i <= 10; i++) {
            expected.append(Text.format("%02x00000000000000", i));
        }
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(expected.append("a5").toString());
        assertThat(RegionAddress.decode(MemorySegment.ofArray(bytes), 1)).isEqualTo(address);
        assertThat(address.toString()).doesNotContain("key").contains("region=7");
        assertThatThrownBy(() -> RegionAddress.decode(MemorySegment.ofArray(bytes), 3))
                .hasMessageContaining("expected=80");
    }

    @Test
    void shouldRefuseEveryShorterAndLongerFrame() {
        for (String good : List.of(HELLO, REFUSE, LEASE, GRANT)) {
            byte[] frame = hex(good);
            for (int length = 0; length <= frame.length + 8; length++) {
                byte[] other = Arrays.copyOf(frame, length);
                if (length > 8) {
                    other[8] = (byte) length; // as the frame itself says
                }
                if (length != frame.length) {
                    assertThatThrownBy(() -> decode(other))
                            .as("%s, length %d", good, length)
                            .isInstanceOfSatisfying(
                                    FabricException.class,
                                    e ->
                                            assertThat(e.kind())
                                                    .isEqualTo(FabricException.Kind.MALFORMED));
                }
            }
        }
        assertThatThrownBy(() -> decode(Arrays.copyOf(hex(HELLO), 10)))
                .hasMessage(
                        "frame refused: field=length, got=10, expected=16 to " + Frame.MAX_BYTES);
        assertThatThrownBy(() ->
                        Frame.decode(
                                MemorySegment.ofArray(new byte[Frame.MAX_BYTES + 1]),
                                Frame.MAX_BYTES + 1))
                .hasMessageContaining("field=length");
    }

    @Test
    void shouldSayHowMuchOfABodyCameAndHowMuchWasExpected() {
        byte[] grant = hex(GRANT.replaceFirst("30000000", "14000000").substring(0, 44));
        byte[] lease = hex(LEASE.replaceFirst("30000000", "2f000000").replaceFirst("00$", ""));

        assertThatThrownBy(() -> decode(grant))
                .hasMessage("frame refused: field=body, got=4, expected=at least 16");
        assertThatThrownBy(() -> decode(lease))
                .hasMessage("frame refused: field=body, got=31, expected=32");
    }

    @Test
    void shouldTakeTheLeastAndTheMostOfEachField() {
        byte[] most = new byte[Frame.MAX_PAYLOAD_BYTES];
        Arrays.fill(most, (byte) 7);
        for (byte[] payload : List.of(new byte[0], most)) {
            assertThat(decode(Frame.encode(new Frame.Welcome(1, payload))))
                    .isInstanceOfSatisfying(
                            Frame.Welcome.class,
                            welcome -> {
                                assertThat(welcome.memoryBytes()).isEqualTo(1);
                                assertThat(welcome.payload()).isEqualTo(payload);
                            });
        }
        Frame.Lease readOnly = new Frame.Lease(-1, new RegionAddress.Id(0, -1), false);
        assertThat(decode(Frame.encode(readOnly))).isEqualTo(readOnly);
        for (int count : new int[] {1, Frame.MAX_GENERATIONS}) {
            long[] generations = new long[count];
            Arrays.setAll(generations, index -> -1L - index);
            assertThat(decode(Frame.encode(new Frame.Grant(1, false, generations))))
                    .isInstanceOfSatisfying(
                            Frame.Grant.class,
                            grant -> {
                                assertThat(grant.sizeBytes()).isEqualTo(1);
                                assertThat(grant.writable()).isFalse();
                                assertThat(grant.generations()).isEqualTo(generations);
                            });
        }
        for (int count : new int[] {0, Frame.MAX_GENERATIONS + 1}) {
            assertThatThrownBy(
                            () -> decode(Frame.encode(new Frame.Grant(1, true, new long[count]))))
                    .hasMessageContaining("field=generations, got=" + count + ", expected=1 to");
        }
    }

    @Test
    void shouldCopyAFrameToNativeMemory() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copied = Frame.toNative(hex(HELLO), arena);

            assertThat(copied.isNative()).isTrue();
            assertThat(copied.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(hex(HELLO));
        }
    }

    @Test
    void shouldTakeAnAddressOfOneByteThatFillsItsMemory() {
        RegionAddress.Id id = new RegionAddress.Id(0x1234, 5);
        RegionAddress address = new RegionAddress(id, id, id, -1, id, 1);
        MemorySegment bytes = MemorySegment.ofArray(new byte[RegionAddress.WIRE_BYTES]);
        address.encode(bytes, 0);

        assertThat(RegionAddress.decode(bytes, 0)).isEqualTo(address);
        assertThat(id).hasToString("00000000000012340000000000000005");
        assertThatThrownBy(() -> RegionAddress.decode(bytes, 1))
                .hasMessage("region address refused: bytes=79, expected=80");
        assertThatThrownBy(() -> RegionAddress.decode(bytes, -1))
                .isInstanceOf(FabricException.class);
        assertThatThrownBy(() -> new RegionAddress(id, id, id, 1, id, 0))
                .hasMessageContaining("sizeBytes=0, expected=at least 1");
    }
}
