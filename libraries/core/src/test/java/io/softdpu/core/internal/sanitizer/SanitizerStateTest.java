package io.softdpu.core.internal.sanitizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SanitizerStateTest {
    private final List<@Nullable SanitizerState> seen = new CopyOnWriteArrayList<>();

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

    @Test
    void shouldApplyToTheThreadThatStartedItAndToItsThreads() throws InterruptedException {
        SanitizerState before = SanitizerState.current();
        Thread unrelated = new Thread(() -> seen.add(SanitizerState.current()));
        SanitizerState outer = SanitizerState.startForThread(1);
        SanitizerState inner = SanitizerState.startForThread(2);
        Thread started = new Thread(() -> seen.add(SanitizerState.current()));
        assertThat(SanitizerState.current()).isSameAs(inner);
        started.start();
        started.join();
        unrelated.start();
        unrelated.join();
        assertThat(seen).containsExactly(inner, before);
        outer.end();
        assertThat(SanitizerState.current()).isSameAs(inner);
        inner.end();
        assertThat(SanitizerState.current()).isSameAs(before);
    }

    @Test
    void shouldEndForThreadsThatLiveOn() throws InterruptedException {
        SanitizerState before = SanitizerState.current();
        SanitizerState state = SanitizerState.startForThread(1);
        Thread started = new Thread(() -> seen.add(SanitizerState.current()));
        state.end();
        started.start();
        started.join();
        assertThat(seen).containsExactly(before);
    }
}
