package io.softdpu.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
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
                assertThat(e.kind()).isEqualTo(FabricException.Kind.MALFORMED);
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
            expected.append(String.format("%02x00000000000000", i));
        }
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(expected.append("a5").toString());
        assertThat(RegionAddress.decode(MemorySegment.ofArray(bytes), 1)).isEqualTo(address);
        assertThat(address.toString()).doesNotContain("key").contains("region=7");
        assertThatThrownBy(() -> RegionAddress.decode(MemorySegment.ofArray(bytes), 3))
                .hasMessageContaining("expected=80");
    }
}
