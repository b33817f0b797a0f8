package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.testkit.Clause;
import java.util.Set;
import java.util.TreeSet;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Data path and user data of the contexts of all libraries, in every state. */
final class ContextSettingsTest extends EnvironmentFixture {
    @Test
    @Clause("cc-165")
    void shouldBeTheCpuAloneAndBeSelectedInIdleAlone() throws Exception {
        Set<String> accepting = new TreeSet<>();
        Set<String> asked =
                forEachContext((type, context, state) -> {
                    if (isAccepted(context, state)) {
                        accepting.add(type);
                    }
                });
        assertThat(accepting).as("accept the CPU").isEqualTo(asked);
        assertThat(asked)
                .contains(
                        "ComchClient",
                        "ComchServer",
                        "ComchProducer",
                        "ComchConsumer",
                        "ComchStream",
                        "Rdma",
                        "Dma",
                        "Sha",
                        "BlockContext");
    }

    @Test
    @Clause("rdma-283")
    void shouldHaveUserDataThatIsSetInIdleAlone() throws Exception {
        Set<String> asked =
                forEachContext((type, context, state) -> assertUserData(context, state));
        assertThat(asked).isNotEmpty();
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
