package io.softdpu.core.internal.sanitizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SanitizerStateTest {
    @Test
    void shouldBeOnWhereTheEnvironmentHasASeed() {
        assertThat(SanitizerState.ofEnvironment(null)).isNull();
        assertThat(SanitizerState.ofEnvironment("")).isNull();
        assertThat(SanitizerState.ofEnvironment("0").seed()).isZero();
        assertThat(SanitizerState.ofEnvironment(" -7 ").seed()).isEqualTo(-7);
        assertThat(SanitizerState.ofEnvironment("0x7fffffffffffffff").seed())
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldRefuseASeedThatIsNoNumber() {
        for (String text : new String[] {"on", "1.5", "9223372036854775808"}) {
            Thrown.with(Status.INVALID_VALUE, () -> SanitizerState.ofEnvironment(text))
                    .hasMessageContainingAll("SOFTDPU_SANITIZE", "value=" + text);
        }
    }

    @Test
    void shouldGiveEachObjectASequenceOfItsOwn() {
        SanitizerState one = SanitizerState.ofEnvironment("5");
        SanitizerState same = SanitizerState.ofEnvironment("5");
        long first = one.newSequence().nextLong();
        assertThat(same.newSequence().nextLong()).isEqualTo(first);
        assertThat(one.newSequence().nextLong()).isNotEqualTo(first);
    }

    @Test
    void shouldBearTheNamesThatUsersSee() {
        assertThat(SanitizerState.LOG_NAME).isEqualTo(Sanitizer.class.getName());
        assertThat(Arrays.stream(Mistake.values()).map(Enum::name))
                .containsExactlyElementsOf(
                        Arrays.stream(SanitizerReport.Kind.values()).map(Enum::name).toList());
    }
}
