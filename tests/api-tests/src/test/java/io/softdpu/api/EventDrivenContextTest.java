package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Clause;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Support of event-driven mode by the contexts of all libraries, in every state. */
final class EventDrivenContextTest extends EnvironmentFixture {
    @Test
    @Clause("core-142")
    void shouldBeSupportedByAllInEveryState() throws Exception {
        Set<String> asked =
                forEachContext((type, context, state) ->
                        assertThat(context.isEventDrivenSupported())
                                .as("%s, %s", context, state)
                                .isTrue());
        assertThat(asked)
                .contains(
                        "ComchClient",
                        "ComchServer",
                        "ComchProducer",
                        "ComchConsumer",
                        "Rdma",
                        "Dma",
                        "Sha",
                        "BlockContext");
    }
}
