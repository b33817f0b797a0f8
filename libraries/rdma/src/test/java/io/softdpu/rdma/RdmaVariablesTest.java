package io.softdpu.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaVariablesTest {
    private static final String GID_INDEX = "SOFTDPU_RDMA_GID_INDEX";
    private static final String PATH_MTU = "SOFTDPU_RDMA_PATH_MTU";

    @Test
    void shouldHaveTheDefaultsWithoutVariables() {
        assertThat(RdmaVariables.gidIndex(Map.of(), 2)).isZero();
        assertThat(RdmaVariables.gidIndex(Map.of(GID_INDEX, ""), 2)).isZero();
        assertThat(RdmaVariables.pathMtuBytes(Map.of(), 256, 4096)).isEqualTo(1024);
        assertThat(RdmaVariables.pathMtuBytes(Map.of(), 256, 512))
                .as("within the limits of the device")
                .isEqualTo(512);
    }

    @Test
    void shouldTakeTheValuesOfTheEnvironment() {
        assertThat(RdmaVariables.gidIndex(Map.of(GID_INDEX, "1"), 2)).isEqualTo(1);
        assertThat(RdmaVariables.pathMtuBytes(Map.of(PATH_MTU, "4096"), 256, 4096)).isEqualTo(4096);
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "-1", "01", "one", "4294967296"})
    void shouldRefuseAnIndexThatNoAddressHas(String value) {
        assertThatThrownBy(() -> RdmaVariables.gidIndex(Map.of(GID_INDEX, value), 2))
                .isInstanceOf(DpuException.class)
                .hasMessage(
                        "property of RDMA instances is illegal: variable=SOFTDPU_RDMA_GID_INDEX,"
                                + " value=%s, expected=one of [0, 1]",
                        value)
                .extracting(thrown -> ((DpuException) thrown).status())
                .isEqualTo(Status.INVALID_VALUE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "128", "1000", "4096", "1k"})
    void shouldRefuseAPathMtuThatTheDeviceLacks(String value) {
        assertThatThrownBy(() -> RdmaVariables.pathMtuBytes(Map.of(PATH_MTU, value), 256, 2048))
                .hasMessageContaining("variable=SOFTDPU_RDMA_PATH_MTU, value=" + value + ",")
                .hasMessageEndingWith("expected=one of [256, 512, 1024, 2048]");
    }
}
