package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.storage.wire.IoType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PhaseSpecTest {
    @Test
    void shouldReadBackWhatItWrote() {
        PhaseSpec timed =
                new PhaseSpec(IoType.READ, "random_read_4k", 4096, 32, true, 3, 5, null, null);
        PhaseSpec once =
                new PhaseSpec(
                        IoType.WRITE,
                        "write_all",
                        1 << 20,
                        16,
                        false,
                        0,
                        0,
                        PlanContent.WRITTEN,
                        PlanContent.VOLUME);

        assertThat(PhaseSpec.parse(timed.toString())).isEqualTo(timed);
        assertThat(PhaseSpec.parse(once.toString())).isEqualTo(once);
        assertThat(once)
                .hasToString(
                        "write:name=write_all,ioSizeBytes=1048576,transactions=16,order=sequential,"
                                + "fill=written,expect=volume");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "erase:name=a,ioSizeBytes=1,transactions=1,order=random|neither with read:",
                "name=a|neither with read:",
                "read:ioSizeBytes=1,transactions=1,order=random|lacks a field: field=name",
                "read:name=a,transactions=1,order=random|lacks a field: field=ioSizeBytes",
                "read:name=a,ioSizeBytes=1,transactions=1,order=backwards|illegal order",
                "read:name=a,ioSizeBytes=1,transactions=1,order=random,fill=ones|no such content",
                "read:name=a,ioSizeBytes=1,transactions=1,order=random,speed=9|unknown fields",
                "read:name=a,name=b,ioSizeBytes=1,transactions=1,order=random|illegal field",
                "read:name=a,ioSizeBytes=1,transactions=1,order=random,|illegal field",
                "read:name=A b,ioSizeBytes=1,transactions=1,order=random|phase is illegal"
            })
    void shouldRefuseAPlanThatIsNone(String text, String reason) {
        assertThatThrownBy(() -> PhaseSpec.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void shouldReadBackAProgressLine() {
        ProgressLine running = new ProgressLine("verify_read", false, 12, 3456, 789);
        ProgressLine finished = new ProgressLine("verify_read", true, 12, 3456, 789);

        assertThat(ProgressLine.parse(running.toString())).contains(running);
        assertThat(ProgressLine.parse(finished.toString())).contains(finished);
        assertThat(ProgressLine.parse("initiator: core 0 (cpu any): operation count 1")).isEmpty();
    }

    @Test
    void shouldTellTheReadyLinesApart() {
        assertThat(ReadyLine.portOf(ReadyLine.listening(4711))).hasValue(4711);
        assertThat(ReadyLine.portOf("listening: port=")).isEmpty();
        assertThat(ReadyLine.portOf(ReadyLine.waiting("doca_storage_comch"))).isEmpty();
        assertThat(ReadyLine.isWaiting(ReadyLine.waiting("doca_storage_comch"))).isTrue();
        assertThat(ReadyLine.isWaiting(ReadyLine.listening(4711))).isFalse();
    }
}
