package io.softdpu.storage.exhaustion;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.ForeignText;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExhaustionCauseTest {
    /** The cut falls before, into and behind the words that name the cause. */
    @ParameterizedTest
    @ValueSource(ints = {1, 40, 80, 120, 160, 200})
    void shouldNameTheCauseOfATextThatWasCutOnItsWay(int tail) {
        DpuException first =
                failure(
                        "context stopped by itself: role=initiator, worker=0, context=comch"
                                + " consumer #69 of connection of comch client pipeline #62 with"
                                + " host/pf0, reason=peer refused the consumer: id=1,"
                                + " status=OPERATING_SYSTEM, connection="
                                + "c".repeat(tail));
        DpuException relayed = relayed("initiator", first);
        DpuException again = relayed("service", relayed);

        assertThat(List.of(first, relayed, again))
                .allSatisfy(one ->
                        assertThat(ExhaustionCause.of(one, List.of(again, relayed, first)))
                                .isEqualTo(ExhaustionCause.REFUSED_THERE));
    }

    @Test
    void shouldNameNoCauseWhereNoFailureHasTheWholeText() {
        DpuException sent = failure("no cause: " + "c".repeat(400));
        List<Throwable> all =
                List.of(relayed("initiator", sent), relayed("service", sent), failure("EMFILE"));

        assertThat(ExhaustionCause.of(all.getFirst(), all)).isNull();
    }

    private static DpuException relayed(String by, DpuException sent) {
        return failure(
                by
                        + " ended the session: reason="
                        + ForeignText.escapeAndCutMiddle(sent.getMessage()));
    }

    private static DpuException failure(String message) {
        return new DpuException(Status.OPERATING_SYSTEM, message);
    }
}
