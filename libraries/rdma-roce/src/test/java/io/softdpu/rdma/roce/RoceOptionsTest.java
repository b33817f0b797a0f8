package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Options of the provider, by code and by the environment. */
class RoceOptionsTest {
    @AfterEach
    void useTheDefaults() {
        RoceOptions.defaults().use();
    }

    @Test
    void shouldTakeWhatTheEnvironmentSays() {
        RoceOptions options =
                RoceEnvironment.read(
                        Map.of(
                                "SOFTDPU_ROCE_ACK_TIMEOUT", "20ms",
                                "SOFTDPU_ROCE_RETRIES", "2",
                                "SOFTDPU_ROCE_RECEIVE_BUFFER", "131072",
                                "SOFTDPU_ROCE_SEND_BUFFER", "65536",
                                "SOFTDPU_ROCE_IMPAIR", "seed=7,loss=0.01"));

        assertThat(options.ackTimeout()).isEqualTo(Duration.ofNanos(4096 << 13));
        assertThat(options.retries()).isEqualTo(2);
        assertThat(options.receiveBuffer()).isEqualTo(131072);
        assertThat(options.sendBuffer()).isEqualTo(65536);
        assertThat(options.impairment()).isEqualTo("loss=0.01,seed=7");
    }

    @Test
    void shouldTakeTheDefaultsWhereTheEnvironmentIsSilent() {
        assertThat(RoceEnvironment.read(Map.of("SOFTDPU_ROCE_RETRIES", "")).toString())
                .isEqualTo(RoceOptions.defaults().toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ACK_TIMEOUT|3ms|4ms to 17s",
                "ACK_TIMEOUT|20|4ms to 17s",
                "RETRIES|8|0 to 7",
                "RETRIES|many|0 to 7",
                "RECEIVE_BUFFER|65535|65536 to 536870912",
                "SEND_BUFFER|1MiB|65536 to 536870912"
            })
    void shouldRefuseAnIllegalVariable(String name, String value, String expected) {
        String variable = "SOFTDPU_ROCE_" + name;

        assertThatThrownBy(() -> RoceEnvironment.read(Map.of(variable, value)))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining("variable=" + variable)
                .hasMessageContaining("=" + value + ", expected=" + expected);
    }

    @Test
    void shouldRefuseAnIllegalImpairmentOfTheEnvironment() {
        assertThatThrownBy(() -> RoceEnvironment.read(Map.of("SOFTDPU_ROCE_IMPAIR", "loss=2")))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining("variable=SOFTDPU_ROCE_IMPAIR, loss=2, expected=a proba");
    }

    @Test
    void shouldRefuseIllegalValuesByCode() {
        RoceOptions options = RoceOptions.defaults();

        assertThatThrownBy(() -> options.withAckTimeout(Duration.ofSeconds(18)))
                .hasMessageContaining("call=withAckTimeout, timeout=PT18S, expected=4ms to 17s");
        assertThatThrownBy(() -> options.withRetries(-1))
                .hasMessageContaining("call=withRetries, retries=-1, expected=0 to 7");
        assertThatThrownBy(() -> options.withReceiveBuffer(0))
                .hasMessageContaining("call=withReceiveBuffer, bytes=0");
        assertThatThrownBy(() -> options.withSendBuffer(0))
                .hasMessageContaining("call=withSendBuffer, bytes=0");
    }

    @Test
    void shouldGiveAnAdapterItsBufferAndRefuseALaterChange(@TempDir Path folder) {
        RoceOptions.defaults().withReceiveBuffer(1 << 17).use();
        try (Party near = new Party(folder, Side.TARGET)) {
            RdmaConnection exported = near.export();
            byte[] blob = exported.blob();
            byte[] section = new byte[RoceDetails.WIRE_BYTES];
            System.arraycopy(blob, blob.length - section.length, section, 0, section.length);

            assertThat(RoceDetails.decode(section).receiveBufferBytes()).isEqualTo(1 << 17);
            assertThatThrownBy(() -> RoceOptions.defaults().use())
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE))
                    .hasMessageContaining("NIC of the provider roce is open: address=127.");
        }
    }
}
