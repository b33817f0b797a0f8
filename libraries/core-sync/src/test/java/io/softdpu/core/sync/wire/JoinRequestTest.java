package io.softdpu.core.sync.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.fabric.wire.RegionAddress;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class JoinRequestTest {
    private static final String GOLDEN = "5344534a 0001 0000 0102030405060708 1112131415161718";
    private static final JoinRequest REQUEST =
            new JoinRequest(new RegionAddress.Id(0x0102030405060708L, 0x1112131415161718L));

    private static byte[] golden() {
        return HexFormat.of().parseHex(GOLDEN.replace(" ", ""));
    }

    @Test
    void shouldBeTheGoldenBytesBothWays() {
        assertThat(REQUEST.encode()).isEqualTo(golden());
        assertThat(JoinRequest.decode(golden())).isEqualTo(REQUEST);
        assertThat(JoinRequest.encodeReply())
                .isEqualTo(Arrays.copyOf(golden(), JoinRequest.REPLY_BYTES));
        JoinRequest.requireReply(JoinRequest.encodeReply());
        assertThat(REQUEST).hasToString("join request");
    }

    @Test
    void shouldRefuseOtherBytes() {
        for (int at = 0; at < 8; at++) {
            byte[] request = golden();
            request[at] ^= 1;
            byte[] reply = JoinRequest.encodeReply();
            reply[at] ^= 1;
            Status expected =
                    at == 4 || at == 5 ? Status.UNSUPPORTED_VERSION : Status.INVALID_VALUE;
            Thrown.with(expected, () -> JoinRequest.decode(request));
            Thrown.with(expected, () -> JoinRequest.requireReply(reply));
        }
        for (int length : new int[] {0, 7, 9, 23, 25}) {
            Thrown.with(
                    Status.INVALID_VALUE,
                    () -> JoinRequest.decode(Arrays.copyOf(golden(), length)));
            Thrown.with(
                    Status.INVALID_VALUE,
                    () -> JoinRequest.requireReply(Arrays.copyOf(golden(), length)));
        }
    }
}
