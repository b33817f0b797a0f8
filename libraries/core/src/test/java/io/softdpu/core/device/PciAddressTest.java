package io.softdpu.core.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PciAddressTest {
    @Test
    void shouldReadShortAndLongForms() {
        assertThat(PciAddress.of("0b:00.2")).isEqualTo(new PciAddress(0, 0x0b, 0, 2));
        assertThat(PciAddress.of("0000:0B:00.2")).isEqualTo(PciAddress.of("0b:00.2"));
        assertThat(PciAddress.of("beef:ff:1f.7")).isEqualTo(new PciAddress(0xbeef, 255, 31, 7));
    }

    @Test
    void shouldPrintTheFormsThatItReads() {
        PciAddress plain = PciAddress.of("0b:00.2");
        assertThat(plain.shortForm()).isEqualTo("0b:00.2");
        assertThat(plain.longForm()).isEqualTo("0000:0b:00.2");
        assertThat(PciAddress.of("0001:0b:00.2")).hasToString("0001:0b:00.2");
    }

    @Test
    void shouldBeOrderedByDomainBusDeviceAndFunction() {
        List<PciAddress> ordered =
                Stream.of("00:00.1", "00:01.0", "01:00.0", "7fff:00:00.0", "8000:00:00.0")
                        .map(PciAddress::of)
                        .toList();
        assertThat(ordered).isSorted();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "p0",
                "0b:00",
                "0b:00.8",
                "0b:20.0",
                "b:00.0",
                "0b:00.0 ",
                "00000:0b:00.0",
                "0g:00.0"
            })
    void shouldRefuseWhatIsNoAddress(String text) {
        Thrown.with(Status.INVALID_VALUE, () -> PciAddress.of(text)).hasMessageContaining(text);
    }

    @Test
    void shouldRefusePartsOutOfRange() {
        Thrown.with(Status.INVALID_VALUE, () -> new PciAddress(0x10000, 0, 0, 0));
        Thrown.with(Status.INVALID_VALUE, () -> new PciAddress(0, 256, 0, 0));
        Thrown.with(Status.INVALID_VALUE, () -> new PciAddress(0, 0, 32, 0));
        Thrown.with(Status.INVALID_VALUE, () -> new PciAddress(0, 0, 0, -1));
    }
}
