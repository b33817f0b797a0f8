package io.softdpu.core.internal.sanitizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SanitizerCoreTest {
    @Test
    void shouldBeOnWhereTheEnvironmentHasASeed() {
        assertThat(SanitizerCore.ofEnvironment(null)).isNull();
        assertThat(SanitizerCore.ofEnvironment("")).isNull();
        assertThat(SanitizerCore.ofEnvironment("0").seed()).isZero();
        assertThat(SanitizerCore.ofEnvironment(" -7 ").seed()).isEqualTo(-7);
        assertThat(SanitizerCore.ofEnvironment("0x7fffffffffffffff").seed())
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldRefuseASeedThatIsNoNumber() {
        for (String text : new String[] {"on", "1.5", "9223372036854775808"}) {
            Thrown.with(Status.INVALID_VALUE, () -> SanitizerCore.ofEnvironment(text))
                    .hasMessageContainingAll("SOFTDPU_SANITIZE", "value=" + text);
        }
    }

    @Test
    void shouldGiveEachObjectASequenceOfItsOwn() {
        SanitizerCore one = SanitizerCore.ofEnvironment("5");
        SanitizerCore same = SanitizerCore.ofEnvironment("5");
        long first = one.newSequence().nextLong();
        assertThat(same.newSequence().nextLong()).isEqualTo(first);
        assertThat(one.newSequence().nextLong()).isNotEqualTo(first);
    }

    @Test
    void shouldBearTheNamesThatUsersSee() {
        assertThat(SanitizerCore.LOG_NAME).isEqualTo(Sanitizer.class.getName());
        assertThat(Arrays.stream(Mistake.values()).map(Enum::name))
                .containsExactlyElementsOf(
                        Arrays.stream(SanitizerReport.Kind.values()).map(Enum::name).toList());
    }
}
