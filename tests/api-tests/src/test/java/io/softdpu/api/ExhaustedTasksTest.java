package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.softdpu.api.Registry.Fixture;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.testkit.Clause;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Task types of all contexts whose tasks are all allocated: one call throws, the other does not.
 */
final class ExhaustedTasksTest extends EnvironmentFixture {
    /** More than any context of the fixtures has. */
    private static final int TOO_MANY = 100;

    @Test
    void shouldHaveBothCallsForEachTypeOfTask() {
        List<Method> throwing = new ArrayList<>();
        for (Class<?> type : registry.fixtures.keySet()) {
            for (Operation operation : Api.operations(type)) {
                if (operation.name().startsWith("allocate") && givesTask(operation)) {
                    throwing.add((Method) operation.executable());
                }
            }
        }
        assertThat(throwing).hasSizeGreaterThan(20);
        assertThat(throwing)
                .allSatisfy(method -> {
                    Method other = withoutException(method);
                    assertThat(other.getReturnType()).isEqualTo(method.getReturnType());
                    assertThat(other.getAnnotatedReturnType().isAnnotationPresent(Nullable.class))
                            .as("null is announced by %s", other)
                            .isTrue();
                });
    }

    @TestFactory
    @Clause("core-003")
    Stream<DynamicTest> shouldReturnNullWhereTheOtherThrowsThatNoneIsLeft() {
        return registry.fixtures.values().stream()
                .filter(fixture -> !tries(fixture).isEmpty())
                .map(fixture ->
                        dynamicTest(Api.nameOf(fixture.type()), () -> exhaustEach(fixture)));
    }

    private void exhaustEach(Fixture fixture) throws Exception {
        for (Operation operation : tries(fixture)) {
            boolean exhausted = false;
            for (String state : fixture.states()) {
                try (FixtureScope scope = new FixtureScope(environment)) {
                    Object context = fixture.make(scope, state);
                    exhausted |= exhaust(operation, context, scope);
                }
            }
            assertThat(exhausted).as("a state allows %s", operation).isTrue();
        }
    }

    /** Allocates all tasks of the type; false if the state of the context does not allow it. */
    private boolean exhaust(Operation trying, Object context, FixtureScope scope)
            throws NoSuchMethodException {
        @Nullable Object[] arguments = values.allGood(trying, scope, context);
        Outcome first = caller.call(trying, context, arguments);
        if (!first.accepted()) {
            return false;
        }
        List<Task> tasks = new ArrayList<>();
        Object next = first.returned();
        while (next != null && tasks.size() < TOO_MANY) {
            tasks.add(scope.keep((Task) next));
            Outcome outcome = caller.call(trying, context, arguments);
            assertThat(outcome.accepted()).as("%s: %s", trying, outcome).isTrue();
            next = outcome.returned();
        }
        assertThat(tasks).as("tasks of %s", trying).hasSizeBetween(1, TOO_MANY - 1);
        Task last = tasks.getLast();
        Outcome refused = caller.call(throwingOne(trying), context, arguments);
        assertThat(refused.refusedWith(Status.NO_MEMORY)).as("%s: %s", trying, refused).isTrue();
        last.free();
        assertThat(caller.call(trying, context, arguments).returned())
                .as("the task that was freed, by %s", trying)
                .isSameAs(last);
        assertThat(last.status()).isEqualTo(Status.SUCCESS);
        return true;
    }

    private static List<Operation> tries(Fixture fixture) {
        return Api.operations(fixture.type()).stream()
                .filter(operation -> operation.name().startsWith("tryAllocate"))
                .filter(ExhaustedTasksTest::givesTask)
                .toList();
    }

    private static boolean givesTask(Operation operation) {
        return operation.executable() instanceof Method method
                && Task.class.isAssignableFrom(method.getReturnType());
    }

    private static Operation throwingOne(Operation trying) throws NoSuchMethodException {
        String name = "a" + trying.name().substring("tryA".length());
        return new Operation(
                trying.type(),
                trying.type().getMethod(name, trying.executable().getParameterTypes()));
    }

    private static Method withoutException(Method throwing) throws NoSuchMethodException {
        String name = "tryA" + throwing.getName().substring(1);
        return throwing.getDeclaringClass().getMethod(name, throwing.getParameterTypes());
    }
}
