package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.api.Registry.Fixture;
import io.softdpu.core.execution.Context;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Support of event-driven mode by the contexts of all libraries, in every state. */
final class EventDrivenContextTest {
    @TempDir private Path folder;

    private final Registry registry = new Registry();
    private Environment environment;

    @BeforeEach
    void open() {
        environment = new Environment(folder);
    }

    @AfterEach
    void close() throws Exception {
        environment.close();
    }

    @Test
    @Clause("core-142")
    void shouldBeSupportedByAllInEveryState() throws Exception {
        Set<String> asked = new TreeSet<>();
        for (Fixture fixture : registry.fixtures.values()) {
            if (!Context.class.isAssignableFrom(fixture.type())) {
                continue;
            }
            for (String state : fixture.states()) {
                FixtureScope scope = new FixtureScope(environment);
                try {
                    Context context = (Context) fixture.make(scope, state);
                    assertThat(context.isEventDrivenSupported())
                            .as("%s, %s", context, state)
                            .isTrue();
                } finally {
                    scope.close();
                }
            }
            asked.add(Api.nameOf(fixture.type()));
        }
        assertThat(asked)
                .contains(
                        "ComchClient",
                        "ComchServer",
                        "ComchProducer",
                        "ComchConsumer",
                        "Rdma",
                        "Dma",
                        "Sha");
    }
}
