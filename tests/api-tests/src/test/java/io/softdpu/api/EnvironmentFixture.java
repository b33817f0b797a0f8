package io.softdpu.api;

import io.softdpu.api.Registry.Fixture;
import io.softdpu.core.execution.Context;
import io.softdpu.testkit.LeakCheck;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Base of the tests of all public types: an environment for each test, which leaves nothing behind,
 * and what makes objects and calls in it.
 */
abstract class EnvironmentFixture {
    @TempDir Path folder;
    final Registry registry = new Registry();
    final Values values = new Values();
    final Caller caller = new Caller();
    Environment environment;
    private LeakCheck leaks;

    /** Test of a context in one of its states. */
    interface ContextTest {
        void run(String type, Context context, String state) throws Exception;
    }

    @BeforeEach
    final void openEnvironment() {
        leaks = LeakCheck.begin(folder);
        environment = new Environment(folder);
    }

    @AfterEach
    final void closeEnvironment() throws Exception {
        environment.close();
        caller.close();
        leaks.assertNothingLeft();
    }

    /**
     * Runs a test for the contexts of all libraries, in every state.
     *
     * @return the names of their types
     */
    final Set<String> forEachContext(ContextTest test) throws Exception {
        Set<String> types = new TreeSet<>();
        for (Fixture fixture : registry.fixtures.values()) {
            if (!Context.class.isAssignableFrom(fixture.type())) {
                continue;
            }
            String type = Api.nameOf(fixture.type());
            for (String state : fixture.states()) {
                try (FixtureScope scope = new FixtureScope(environment)) {
                    test.run(type, (Context) fixture.make(scope, state), state);
                }
            }
            types.add(type);
        }
        return types;
    }
}
