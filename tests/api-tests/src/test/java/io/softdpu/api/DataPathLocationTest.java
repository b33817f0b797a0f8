package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.api.Registry.Fixture;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The data path of the contexts of all libraries, in every state. */
final class DataPathLocationTest {
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
    @Clause("cc-165")
    void shouldBeTheCpuAloneAndBeSelectedInIdleAlone() throws Exception {
        Set<String> asked = new TreeSet<>();
        for (Fixture fixture : registry.fixtures.values()) {
            if (!Context.class.isAssignableFrom(fixture.type())) {
                continue;
            }
            boolean accepted = false;
            for (String state : fixture.states()) {
                FixtureScope scope = new FixtureScope(environment);
                try {
                    accepted |= isAccepted((Context) fixture.make(scope, state), state);
                } finally {
                    scope.close();
                }
            }
            assertThat(accepted).as("%s accepts the CPU", fixture.type()).isTrue();
            asked.add(Api.nameOf(fixture.type()));
        }
        assertThat(asked)
                .contains(
                        "ComchClient",
                        "ComchServer",
                        "ComchProducer",
                        "ComchConsumer",
                        "ComchStream",
                        "Rdma",
                        "Dma",
                        "Sha");
    }

    /** Whether the context accepts the CPU; it refuses all other locations. */
    private static boolean isAccepted(Context context, String state) {
        boolean idle = context.state() == ContextState.IDLE && !state.equals("closed");
        for (DataPathLocation location : DataPathLocation.values()) {
            if (!idle) {
                assertRefused(context, location, state, Status.BAD_STATE);
            } else if (location == DataPathLocation.CPU) {
                assertThat(context.setDataPathLocation(location)).isSameAs(context);
            } else {
                assertRefused(context, location, state, Status.NOT_SUPPORTED)
                        .hasMessageContainingAll(
                                "context=" + context, "location=" + location, "expected=CPU");
            }
        }
        return idle;
    }

    private static AbstractThrowableAssert<?, ?> assertRefused(
            Context context, DataPathLocation location, String state, Status status) {
        return assertThatThrownBy(() -> context.setDataPathLocation(location))
                .as("%s, %s, %s", context, state, location)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status));
    }
}
