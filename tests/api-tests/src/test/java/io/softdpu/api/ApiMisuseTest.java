package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.softdpu.api.Registry.Fixture;
import io.softdpu.api.Registry.Threads;
import io.softdpu.compute.Compress;
import io.softdpu.compute.Dma;
import io.softdpu.compute.Sha;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.RdmaBridge;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Soak;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Every public operation in every state, on a wrong thread, and with every null or invalid
 * argument. The expected results are in two tables of the test resources; a new operation fails
 * until its row has been added.
 */
final class ApiMisuseTest extends EnvironmentFixture {
    private static final String NO_STATE = "-";
    private static final String ELSEWHERE = "other thread";

    private final InvalidValues invalidValues = new InvalidValues();
    private final Map<String, Integer> byStatus = new TreeMap<>();

    @Test
    void shouldKnowHowToMakeAnObjectOfEachPublicType() {
        List<Class<?>> types = Api.types();
        assertThat(types).hasSizeGreaterThan(40);
        assertThat(types)
                .allSatisfy(type ->
                        assertThat(
                                        registry.fixtures.containsKey(type)
                                                || registry.withoutFixture.containsKey(type))
                                .as("%s has an entry in the registry", type)
                                .isTrue());
        assertThat(registry.stale(types)).isEmpty();
    }

    @Test
    void shouldExemptOnlyWhatCannotBeMade() {
        registry.withoutFixture.forEach((type, reason) -> {
            boolean implemented =
                    registry.fixtures.keySet().stream().anyMatch(type::isAssignableFrom);
            boolean usersOwn = type.isAnnotationPresent(FunctionalInterface.class);
            assertThat(implemented || usersOwn || registry.unsupported.contains(type))
                    .as("%s: %s", type, reason)
                    .isTrue();
        });
    }

    @Test
    void shouldRefuseEachCallOfWhatIsNotSupported() throws Exception {
        assertThat(registry.unsupported).contains(RdmaBridge.class, Compress.class);
        for (Class<?> type : registry.unsupported) {
            assertThat(Api.operations(type)).isNotEmpty();
            for (Operation operation : Api.operations(type)) {
                refuse(operation);
            }
        }
    }

    private void refuse(Operation operation) throws Exception {
        assertThat(operation.needsReceiver()).as("%s has no object", operation).isFalse();
        try (Subject subject = new Subject(new FixtureScope(environment), NO_STATE, null)) {
            Outcome good = note(operation, NO_STATE, subject.call(operation));
            assertThat(good.refusedWith(Status.NOT_SUPPORTED))
                    .as("%s: %s", operation, good)
                    .isTrue();
            for (int i = 0; i < operation.parameters().size(); i++) {
                Outcome withNull = subject.call(operation, i, null);
                checkArgument(
                        operation, i, new InvalidValues.Value("null", scope -> null), withNull);
            }
        }
    }

    /** Context itself is open, so that libraries of other modules can have some. */
    @Test
    @Clause("core-067")
    void shouldMakeObjectsByCallsOfTheLibraryAlone() {
        List<Class<?>> objects =
                Api.types().stream()
                        .filter(type ->
                                AutoCloseable.class.isAssignableFrom(type) || type == Buf.class)
                        .filter(type -> type != Context.class)
                        .toList();
        assertThat(objects)
                .contains(
                        Mmap.class,
                        Buf.class,
                        BufInventory.class,
                        WorkQueue.class,
                        ProgressEngine.class,
                        Rdma.class,
                        Dma.class,
                        Sha.class);
        assertThat(objects)
                .allSatisfy(type -> {
                    assertThat(type.getConstructors()).isEmpty();
                    assertThat(type.getFields())
                            .filteredOn(field -> !Modifier.isStatic(field.getModifiers()))
                            .isEmpty();
                    assertThat(Modifier.isFinal(type.getModifiers()) || type.isSealed())
                            .as("%s is closed to programs", type)
                            .isTrue();
                });
    }

    @TestFactory
    @Clause({"core-002", "core-009"})
    @Clause({"core-010", "core-260"})
    Stream<DynamicTest> shouldAnswerEachCallInEachStateAsTheTableSays() {
        return forEachType("calls-by-state.txt", this::states, "api-misuse-states");
    }

    @TestFactory
    @Clause("core-010")
    Stream<DynamicTest> shouldRefuseArgumentsAsTheTableSays() {
        return forEachType("arguments.txt", this::arguments, "api-misuse-arguments");
    }

    // ---- states ----

    private void states(Fixture fixture, Table table) throws Exception {
        table.section(Api.nameOf(fixture.type()), statesOf(fixture));
        for (Operation operation : Api.operations(fixture.type())) {
            if (!operation.needsReceiver() && !Registry.isMadeByCompiler(operation)) {
                Map<String, String> cells = new TreeMap<>();
                try (Subject subject = subject(fixture, NO_STATE)) {
                    cells.put(NO_STATE, note(operation, NO_STATE, subject.call(operation)).text());
                }
                table.row(operation, cells);
            }
        }
        Map<Operation, Map<String, String>> rows = new LinkedHashMap<>();
        for (String state : fixture.states()) {
            oneState(fixture, state, rows);
        }
        if (fixture.threads() == Threads.OF_ENGINE) {
            elsewhere(fixture, rows);
        }
        rows.forEach(table::row);
    }

    private static List<String> statesOf(Fixture fixture) {
        List<String> columns = new ArrayList<>();
        columns.add(NO_STATE);
        if (fixture.threads() == Threads.OF_ENGINE) {
            columns.add(ELSEWHERE);
        }
        columns.addAll(fixture.states());
        return columns;
    }

    private void oneState(Fixture fixture, String state, Map<Operation, Map<String, String>> rows)
            throws Exception {
        Subject subject = subject(fixture, state);
        try {
            for (Operation operation : Api.operations(fixture.type())) {
                if (!operation.needsReceiver()) {
                    continue;
                }
                Outcome outcome = note(operation, state, subject.call(operation));
                rows.computeIfAbsent(operation, key -> new TreeMap<>()).put(state, outcome.text());
                if (changes(operation, outcome)) {
                    subject.close();
                    subject = subject(fixture, state);
                }
            }
        } finally {
            subject.close();
        }
    }

    /**
     * What was refused has changed nothing, but for a close, which begins to stop a context; and
     * who is told to come again has asked for the first time.
     */
    private static boolean changes(Operation operation, Outcome outcome) {
        return operation.name().equals("close")
                || outcome.answered(Status.AGAIN)
                || (outcome.accepted() && !Registry.looks(operation));
    }

    /** Each operation on a thread that is not the engine's, in the first state. */
    private void elsewhere(Fixture fixture, Map<Operation, Map<String, String>> rows)
            throws Exception {
        try (Subject subject = subject(fixture, fixture.states().getFirst())) {
            for (Operation operation : Api.operations(fixture.type())) {
                if (!operation.needsReceiver()) {
                    continue;
                }
                Outcome outcome = note(operation, ELSEWHERE, subject.callElsewhere(operation));
                rows.get(operation).put(ELSEWHERE, outcome.text());
                if (Registry.looks(operation)
                        || Registry.FREE_OF_THREAD.containsKey(operation.key())) {
                    continue;
                }
                assertThat(outcome.refusedWith(Status.NOT_PERMITTED))
                        .as("%s on another thread: %s", operation, outcome)
                        .isTrue();
                assertThat(outcome.message())
                        .as("both threads in the message of %s", operation)
                        .contains("misuse-elsewhere", Thread.currentThread().getName());
            }
        }
    }

    // ---- arguments ----

    private void arguments(Fixture fixture, Table table) throws Exception {
        table.section(Api.nameOf(fixture.type()), List.of());
        for (Operation operation : Api.operations(fixture.type())) {
            if (operation.parameters().isEmpty()
                    || Registry.isMadeByCompiler(operation)
                    || Registry.isOfObject(operation)
                    || Registry.NEVER_ALLOWED.containsKey(operation.key())) {
                continue;
            }
            String state = stateThatAllows(fixture, operation);
            for (int i = 0; i < operation.parameters().size(); i++) {
                parameter(fixture, state, operation, i, table);
            }
        }
    }

    private String stateThatAllows(Fixture fixture, Operation operation) throws Exception {
        if (!operation.needsReceiver()) {
            return NO_STATE;
        }
        for (String state : fixture.states()) {
            try (Subject subject = subject(fixture, state)) {
                if (subject.call(operation).accepted()) {
                    return state;
                }
            }
        }
        throw new AssertionError("no state of the registry allows " + operation);
    }

    private void parameter(
            Fixture fixture, String state, Operation operation, int index, Table table)
            throws Exception {
        Parameter parameter = operation.parameters().get(index);
        Map<String, String> cells = new LinkedHashMap<>();
        Subject subject = subject(fixture, state);
        try {
            for (InvalidValues.Value value : invalidValues(operation, index)) {
                Outcome outcome =
                        note(
                                operation,
                                parameter.getName() + " " + value.label(),
                                subject.call(operation, index, value.maker().make(subject.scope)));
                cells.put(value.label(), outcome.text());
                checkArgument(operation, index, value, outcome);
                if (outcome.accepted()) {
                    subject.close();
                    subject = subject(fixture, state);
                }
            }
            // Whatever was refused has changed nothing: the same call with good arguments works.
            Outcome good = subject.call(operation);
            assertThat(good.accepted())
                    .as("%s still works after misuse of %s: %s", operation, parameter, good)
                    .isTrue();
        } finally {
            subject.close();
        }
        table.row(operation, parameter.getName(), cells);
    }

    private List<InvalidValues.Value> invalidValues(Operation operation, int index) {
        Class<?> type = operation.parameters().get(index).getType();
        List<InvalidValues.Value> all = new ArrayList<>();
        if (!type.isPrimitive()) {
            all.add(new InvalidValues.Value("null", scope -> null));
        }
        if (!Registry.isUnboundedWait(operation)) {
            all.addAll(invalidValues.of(type));
        }
        return all;
    }

    private static void checkArgument(
            Operation operation, int index, InvalidValues.Value value, Outcome outcome) {
        String name = operation.parameters().get(index).getName();
        boolean negative = value.label().equals("-1") || value.label().equals("least");
        if (value.label().equals("null") && operation.allowsNull(index)) {
            assertThat(outcome.accepted() || outcome.message().isEmpty())
                    .as("%s takes null for %s, as its type says: %s", operation, name, outcome)
                    .isTrue();
        } else if (value.label().equals("null") && outcome.answered(Status.INVALID_VALUE)) {
            return; // a call that answers instead of throwing: the status is all that it can say
        } else if (value.label().equals("null")) {
            assertThat(outcome.refusedWith(Status.INVALID_VALUE))
                    .as("%s with null for %s: %s", operation, name, outcome)
                    .isTrue();
            assertThat(outcome.message()).as("message of %s", operation).contains(name);
        } else if (negative && !Registry.isAnyNumber(operation, index)) {
            assertThat(outcome.refusedWith(Status.INVALID_VALUE))
                    .as("%s with %s for %s: %s", operation, value.label(), name, outcome)
                    .isTrue();
        }
    }

    // ---- both ----

    private Outcome note(Operation operation, String what, Outcome outcome) {
        byStatus.merge(outcome.text(), 1, Integer::sum);
        assertThat(outcome.offence()).as("%s (%s)", operation, what).isNull();
        return outcome;
    }

    private Subject subject(Fixture fixture, String state) {
        FixtureScope scope = new FixtureScope(environment);
        Object receiver =
                state.equals(NO_STATE)
                        ? null
                        : caller.watched(
                                "making " + fixture.type() + ", " + state,
                                () -> fixture.make(scope, state));
        return new Subject(scope, state, receiver);
    }

    /** An object in a state, with what is around it. */
    private final class Subject implements AutoCloseable {
        private final FixtureScope scope;
        private final String state;
        private final @Nullable Object receiver;

        private Subject(FixtureScope scope, String state, @Nullable Object receiver) {
            this.scope = scope;
            this.state = state;
            this.receiver = receiver;
        }

        private Outcome call(Operation operation) {
            return call(operation, values.allGood(operation, scope, receiver));
        }

        private Outcome call(Operation operation, int index, @Nullable Object argument) {
            @Nullable Object[] arguments = values.allGood(operation, scope, receiver);
            arguments[index] = argument;
            return call(operation, arguments);
        }

        private Outcome call(Operation operation, @Nullable Object[] arguments) {
            Outcome outcome =
                    state.equals(CoreFixtures.IN_CALLBACK)
                            ? callInCallback(operation, arguments)
                            : caller.call(operation, receiver, arguments);
            if (outcome.accepted() && !Registry.looks(operation)) {
                scope.keep(outcome.returned());
            }
            return outcome;
        }

        private Outcome callElsewhere(Operation operation) {
            return caller.callElsewhere(
                    operation, receiver, values.allGood(operation, scope, receiver));
        }

        private Outcome callInCallback(Operation operation, @Nullable Object[] arguments) {
            ProgressEngine engine = (ProgressEngine) receiver;
            Outcome[] outcome = new Outcome[1];
            Rdma rdma = scope.rdma(scope.environment.p0);
            engine.connect(rdma);
            rdma.setStateChangedCallback((context, previous, next) -> {
                if (outcome[0] == null) {
                    outcome[0] = caller.call(operation, receiver, arguments);
                }
            });
            rdma.start();
            engine.progress();
            return outcome[0];
        }

        @Override
        public void close() throws Exception {
            caller.watched(
                    "closing the scope of " + receiver,
                    () -> {
                        try {
                            scope.close();
                            return true;
                        } catch (RuntimeException e) {
                            throw e;
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    });
        }
    }

    /** Calls the operations of a type, and writes the outcomes into a table. */
    private interface TypeTest {
        void run(Fixture fixture, Table table) throws Exception;
    }

    private Stream<DynamicTest> forEachType(String tableName, TypeTest test, String reportName) {
        long begin = System.nanoTime();
        Table table = new Table(tableName);
        Stream<DynamicTest> tests =
                registry.fixtures.values().stream()
                        .map(fixture ->
                                dynamicTest(
                                        Api.nameOf(fixture.type()),
                                        () -> test.run(fixture, table)));
        DynamicTest last =
                dynamicTest(
                        "the table",
                        () -> {
                            report(reportName, begin);
                            table.compare();
                        });
        return Stream.concat(tests, Stream.of(last));
    }

    private void report(String name, long begin) {
        long operations =
                registry.fixtures.keySet().stream()
                        .mapToLong(type -> Api.operations(type).size())
                        .sum();
        Soak.report(
                name,
                0, // nothing here is random
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "methods=%d, calls=%d, outcomes=%s",
                        operations, caller.calls(), byStatus.toString().replace(", ", ";")));
    }
}
