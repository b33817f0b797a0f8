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
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Data path and user data of the contexts of all libraries, in every state. */
final class ContextSettingsTest {
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

    @Test
    @Clause("rdma-283")
    void shouldHaveUserDataThatIsSetInIdleAlone() throws Exception {
        for (Fixture fixture : registry.fixtures.values()) {
            if (!Context.class.isAssignableFrom(fixture.type())) {
                continue;
            }
            for (String state : fixture.states()) {
                FixtureScope scope = new FixtureScope(environment);
                try {
                    assertUserData((Context) fixture.make(scope, state), state);
                } finally {
                    scope.close();
                }
            }
        }
    }

    private static void assertUserData(Context context, String state) {
        String where = context + ", " + state;
        assertThat(context.userData()).as(where).isZero();
        assertThat(context.userObject()).as(where).isNull();
        if (context.state() == ContextState.IDLE && !state.equals("closed")) {
            assertThat(context.setUserData(Long.MIN_VALUE)).as(where).isSameAs(context);
            assertThat(context.setUserObject(where)).as(where).isSameAs(context);
            assertThat(context.userData()).as(where).isEqualTo(Long.MIN_VALUE);
            assertThat(context.userObject()).as(where).isSameAs(where);
        } else {
            assertBadState(() -> context.setUserData(1), where);
            assertBadState(() -> context.setUserObject(where), where);
        }
    }

    private static void assertBadState(ThrowingCallable call, String where) {
        assertThatThrownBy(call)
                .as(where)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE));
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
