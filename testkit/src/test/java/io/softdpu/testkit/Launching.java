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
                                .build());
        return launching;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) {
            results.add(result);
        }
    }

    TestExecutionResult onlyResult() {
        assertThat(results).hasSize(1);
        return results.getFirst();
    }
}
