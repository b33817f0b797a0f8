package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.api.Registry.Fixture;
import io.softdpu.core.DpuException;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random operations on random objects that share a scope, with arguments that are valid, invalid,
 * null, random, or another object of the scope. Each call must succeed or fail as specified, and
 * the scope must still close.
 */
@Tag(Soak.TAG)
final class MonkeyTest extends EnvironmentFixture {
    /**
     * Seed of a single scope to run; in a soak the number of scopes depends on the machine, so each
     * has its own.
     */
    private static final String SCOPE_PROPERTY = "softdpu.scope";

    private static final int OBJECTS = 4;
    private static final int CALLS = 60;
    private static final int MOST_OBJECTS = 40;
    private static final int REMEMBERED = 40;

    private final List<Fixture> fixtures = List.copyOf(registry.fixtures.values());
    private final List<Fixture> living =
            fixtures.stream().filter(fixture -> fixture.states().size() > 1).toList();
    private final InvalidValues invalidValues = new InvalidValues();
    private final Map<String, Integer> byStatus = new TreeMap<>();
    private final Deque<String> last = new ArrayDeque<>();

    /** An object that calls are made on. */
    private record Subject(Fixture fixture, Object object) {}

    @Test
    void shouldAnswerCallsInAnyOrder(SeededRandom random) throws Exception {
        long begin = System.nanoTime();
        int least = Soak.count(20, 50, 100);
        Duration length = Soak.duration(Duration.ZERO, Duration.ZERO, Duration.ofMinutes(5));
        int scopes = 0;
        Long only = Long.getLong(SCOPE_PROPERTY);
        do {
            scope(only != null ? only : random.nextLong());
            scopes++;
        } while (only == null && (scopes < least || System.nanoTime() - begin < length.toNanos()));
        Soak.report(
                "api-misuse",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "methods=%d, scopes=%d, calls=%d, outcomes=%s",
                        fixtures.stream().mapToInt(f -> Api.operations(f.type()).size()).sum(),
                        scopes,
                        caller.calls(),
                        byStatus.toString().replace(", ", ";")));
    }

    private void scope(long seed) throws Exception {
        SeededRandom random = new SeededRandom(seed);
        last.clear();
        FixtureScope scope = new FixtureScope(environment);
        try {
            List<Subject> subjects = new ArrayList<>();
            for (int i = 0; i < OBJECTS; i++) {
                subjects.add(subject(scope, random));
            }
            for (int i = 0; i < CALLS; i++) {
                step(scope, subjects, random);
            }
            caller.watched("the end of a scope", () -> end(scope));
        } catch (Throwable e) {
            throw new AssertionError(
                    Text.format(
                            "%s, again alone with -D%s=%d, after these calls:\n  %s",
                            e, SCOPE_PROPERTY, seed, String.join("\n  ", last)),
                    e);
        }
    }

    private Subject subject(FixtureScope scope, SeededRandom random) {
        List<Fixture> some = random.chance(0.8) ? living : fixtures;
        Fixture fixture = some.get(random.nextInt(some.size()));
        List<String> states = new ArrayList<>(fixture.states());
        states.remove(CoreFixtures.IN_CALLBACK);
        String state = states.get(random.nextInt(states.size()));
        remember("made " + Api.nameOf(fixture.type()) + ", " + state);
        return new Subject(fixture, fixture.make(scope, state));
    }

    private void step(FixtureScope scope, List<Subject> subjects, SeededRandom random) {
        if (random.chance(0.3)) {
            scope.progress();
        }
        Subject subject = subjects.get(random.nextInt(subjects.size()));
        List<Operation> operations = Api.operations(subject.fixture().type());
        if (operations.isEmpty()) {
            return;
        }
        Operation operation = operations.get(random.nextInt(operations.size()));
        if (Registry.isMadeByCompiler(operation) || Registry.isOfObject(operation)) {
            return;
        }
        Object receiver = operation.needsReceiver() ? subject.object() : null;
        @Nullable Object[] arguments;
        try {
            arguments = arguments(operation, receiver, scope, subjects, random);
        } catch (DpuException e) {
            return; // what the argument is made of has been misused before
        }
        remember(operation + " on " + subject.object());
        // Only where it is refused: an engine made over there would belong to that thread.
        boolean elsewhere =
                random.chance(0.05)
                        && receiver != null
                        && subject.fixture().threads() == Registry.Threads.OF_ENGINE;
        Outcome outcome =
                elsewhere
                        ? caller.callElsewhere(operation, receiver, arguments)
                        : call(operation, receiver, arguments);
        remember("    " + outcome.text());
        byStatus.merge(outcome.text(), 1, Integer::sum);
        assertThat(outcome.offence()).as("%s on %s", operation, receiver).isNull();
        if (outcome.accepted() && !Registry.looks(operation)) {
            adopt(scope, subjects, outcome.returned());
        }
    }

    /** Calls here; a wait for a value that the event may never have is ended by an interrupt. */
    private Outcome call(
            Operation operation, @Nullable Object receiver, @Nullable Object[] arguments) {
        if (!operation.key().startsWith("SyncEvent.wait")) {
            return caller.call(operation, receiver, arguments);
        }
        Thread.currentThread().interrupt();
        try {
            return caller.call(operation, receiver, arguments);
        } finally {
            var _ = Thread.interrupted();
        }
    }

    private void adopt(FixtureScope scope, List<Subject> subjects, @Nullable Object returned) {
        if (returned == null) {
            return;
        }
        scope.keep(returned);
        Fixture fixture = registry.fixtures.get(returned.getClass());
        boolean known = subjects.stream().anyMatch(subject -> subject.object() == returned);
        if (fixture != null && !known && subjects.size() < MOST_OBJECTS) {
            subjects.add(new Subject(fixture, returned));
        }
    }

    private @Nullable Object[] arguments(
            Operation operation,
            @Nullable Object receiver,
            FixtureScope scope,
            List<Subject> subjects,
            SeededRandom random) {
        @Nullable Object[] arguments = new Object[operation.parameters().size()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(operation, i, receiver, scope, subjects, random);
        }
        return arguments;
    }

    private @Nullable Object argument(
            Operation operation,
            int index,
            @Nullable Object receiver,
            FixtureScope scope,
            List<Subject> subjects,
            SeededRandom random) {
        Class<?> type = operation.parameters().get(index).getType();
        if (operation.key().equals("WorkQueue.awaitEvent")
                || (operation.key().startsWith("ComchStream.") && type == Duration.class)) {
            return values.good(operation, index, scope, receiver); // nothing would end a long one
        }
        if (random.chance(0.05) && !type.isPrimitive()) {
            return null;
        }
        List<InvalidValues.Value> candidates = invalidValues.of(type);
        if (random.chance(0.1) && !candidates.isEmpty()) {
            return candidates.get(random.nextInt(candidates.size())).maker().make(scope);
        }
        if (random.chance(0.3)) {
            if (type == int.class) {
                return random.chance(0.5) ? random.nextInt(9) : random.nextInt();
            }
            if (type == long.class) {
                return random.chance(0.5) ? (long) random.nextInt(9000) : random.nextLong();
            }
            if (type == byte[].class) {
                return random.bytes(random.nextInt(300));
            }
        }
        if (random.chance(0.5)) {
            List<Object> fitting =
                    subjects.stream().map(Subject::object).filter(type::isInstance).toList();
            if (!fitting.isEmpty()) {
                return fitting.get(random.nextInt(fitting.size()));
            }
        }
        return values.good(operation, index, scope, receiver);
    }

    private static boolean end(FixtureScope scope) {
        try {
            scope.close();
            return true;
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void remember(String what) {
        if (last.size() == REMEMBERED * 2) {
            last.removeFirst();
        }
        last.addLast(what);
    }
}
