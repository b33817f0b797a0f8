package io.softdpu.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherConstants;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs tests inside a test, with the extensions and listeners that the test names. */
final class Launching implements TestExecutionListener {

    private final List<TestExecutionResult> results = new ArrayList<>();

    private final List<TestExecutionResult> containerResults = new ArrayList<>();

    private Launching() {}

    static Launching run(DiscoverySelector tests, TestExecutionListener... listeners) {
        Launching launching = new Launching();
        LauncherConfig config =
                LauncherConfig.builder()
                        .enableTestExecutionListenerAutoRegistration(false)
                        .addTestExecutionListeners(launching)
                        .addTestExecutionListeners(listeners)
                        .build();
        LauncherFactory.create(config)
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(tests)
                                .configurationParameter(
                                        "junit.jupiter.extensions.autodetection.enabled", "true")
                                .configurationParameter(
                                        LauncherConstants.CAPTURE_STDOUT_PROPERTY_NAME, "false")
                                .configurationParameter(LeakExtension.DEADLINE_PARAMETER, "100")
                                .build());
        return launching;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) {
            results.add(result);
        } else {
            containerResults.add(result);
        }
    }

    /** Of the engine, the classes and whatever else holds tests. */
    List<TestExecutionResult> containerResults() {
        return containerResults;
    }

    /** Of the tests. */
    List<TestExecutionResult> results() {
        return results;
    }

    TestExecutionResult onlyResult() {
        assertThat(results).hasSize(1);
        return results.getFirst();
    }
}
