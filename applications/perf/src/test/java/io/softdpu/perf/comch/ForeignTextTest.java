package io.softdpu.perf.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.HostileText;
import org.junit.jupiter.api.Test;

/** Text that the other side of a measurement says, as an exception shows it. */
class ForeignTextTest {
    @Test
    void shouldShowAMessageWithoutItsNumberEscapedAndCut() {
        DpuException failure =
                catchThrowableOfType(
                        DpuException.class,
                        () ->
                                ComchSide.numberIn(
                                        ComchDpu.REPORT + HostileText.of(HostileText.LONG),
                                        ComchDpu.REPORT));

        assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
        HostileText.requireHarmless(failure.getMessage());
        assertThat(ComchSide.numberIn("report 42", ComchDpu.REPORT)).isEqualTo(42);
    }
}
