package io.softdpu.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import org.junit.jupiter.api.Test;

/** RDMA without a provider on the class path, as in the tests of this module. */
@SoftDpuTest
class RdmaWithoutProviderTest {
    @Test
    @Clause({"rdma-076", "rdma-100", "rdma-112"})
    @Clause("rdma-059")
    void shouldSayThatNoProviderServesTheDevice(SoftDpu card) {
        Device device = card.targetDevice();
        assertThatThrownBy(() -> Rdma.create(device))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessageContaining("providers=[]")
                .hasMessageEndingWith(
                        "expected=the artefact io.softdpu:softdpu-rdma-shm or"
                                + " io.softdpu:softdpu-rdma-roce at run time");
        RdmaCapabilities can = RdmaCapabilities.of(device.info());
        assertThat(can.isSupported()).isFalse();
        for (RdmaTaskType type : RdmaTaskType.values()) {
            assertThat(can.isSupported(type)).isFalse();
        }
    }

    @Test
    @Clause("rdma-010")
    void shouldNeedADevice() {
        assertThatThrownBy(() -> Rdma.create(null))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining("device");
    }
}
