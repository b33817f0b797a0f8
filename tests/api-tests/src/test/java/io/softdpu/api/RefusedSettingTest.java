package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.softdpu.api.Registry.Fixture;
import io.softdpu.testkit.Clause;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Settings that are refused, in every state of every object: its getters return the same. */
final class RefusedSettingTest extends EnvironmentFixture {
    private static final Pattern SETTING = Pattern.compile("(set|configure|add|remove)[A-Z].*");

    private final Set<String> refusing = new TreeSet<>();

    @TestFactory
    @Clause("core-260")
    Stream<DynamicTest> shouldChangeNothingThatTheObjectShows() {
        List<Fixture> configurable =
                registry.fixtures.values().stream()
                        .filter(fixture -> fixture.states().size() > 1)
                        .filter(fixture -> !settings(fixture).isEmpty())
                        .toList();
        Stream<DynamicTest> tests =
                configurable.stream()
                        .map(fixture ->
                                dynamicTest(
                                        Api.nameOf(fixture.type()), () -> inEachState(fixture)));
        DynamicTest last =
                dynamicTest(
                        "settings have been refused",
                        () ->
                                assertThat(refusing)
                                        .contains(
                                                "Mmap",
                                                "BufPool",
                                                "BufArray",
                                                "ComchClient",
                                                "ComchServer",
                                                "ComchProducer",
                                                "ComchConsumer",
                                                "Rdma",
                                                "Dma",
                                                "BlockContext",
                                                "ProgressEngine"));
        return Stream.concat(tests, Stream.of(last));
    }

    private void inEachState(Fixture fixture) throws Exception {
        for (String state : fixture.states()) {
            if (state.equals(CoreFixtures.IN_CALLBACK)) {
                continue; // the callback is over when the object has been made
            }
            FixtureScope scope = new FixtureScope(environment);
            try {
                Object object = fixture.make(scope, state);
                for (Operation setting : settings(fixture)) {
                    for (int number : numbersFor(setting)) {
                        if (isRefused(fixture, state, scope, object, setting, number)) {
                            refusing.add(Api.nameOf(fixture.type()));
                        } else if (!setting.name().startsWith("set")) { // in another state now
                            scope.close();
                            scope = new FixtureScope(environment);
                            object = fixture.make(scope, state);
                        }
                    }
                }
            } finally {
                scope.close();
            }
        }
    }

    private static int[] numbersFor(Operation setting) {
        boolean takesNumber =
                setting.parameters().stream()
                        .anyMatch(p -> p.getType() == int.class || p.getType() == long.class);
        return takesNumber ? new int[] {1, 2, 8} : new int[] {1};
    }

    /** Calls a setting of an object, with this number if it has one. */
    private boolean isRefused(
            Fixture fixture,
            String state,
            FixtureScope scope,
            Object object,
            Operation setting,
            int number) {
        @Nullable Object[] arguments = values.allGood(setting, scope, object);
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof Integer) {
                arguments[i] = number;
            } else if (arguments[i] instanceof Long) {
                arguments[i] = (long) number;
            }
        }
        Map<String, String> before = shown(fixture, object);
        Outcome outcome = caller.call(setting, object, arguments);
        if (outcome.accepted()) {
            return false;
        }
        assertThat(shown(fixture, object))
                .as("%s%s, %s, %s", setting, Arrays.toString(arguments), state, outcome.text())
                .isEqualTo(before);
        return true;
    }

    private Map<String, String> shown(Fixture fixture, Object object) {
        Map<String, String> shown = new TreeMap<>();
        for (Operation operation : Api.operations(fixture.type())) {
            if (operation.needsReceiver() && Registry.looks(operation)) {
                Outcome outcome = caller.call(operation, object, new Object[0]);
                shown.put(
                        operation.signature(),
                        outcome.accepted() ? "" + outcome.returned() : outcome.text());
            }
        }
        return shown;
    }

    private static List<Operation> settings(Fixture fixture) {
        return Api.operations(fixture.type()).stream()
                .filter(Operation::needsReceiver)
                .filter(operation -> SETTING.matcher(operation.name()).matches())
                .toList();
    }
}
