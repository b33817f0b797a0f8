package io.softdpu.junit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs of example tests inside a test, and their results. */
final class Run {
    private Run() {}

    /** The result of a method of an example class. */
    static TestExecutionResult of(Class<?> examples, String method) {
        Map<String, TestExecutionResult> results =
                run(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(
                                        DiscoverySelectors.selectMethod(
                                                examples, method, SoftDpu.class.getName())));
        return Objects.requireNonNull(results.get(method + "(SoftDpu)"), method);
    }

    /** The results of all methods of example classes, which run at the same time. */
    static Map<String, TestExecutionResult> inParallel(Class<?> examples, int threads) {
        return run(
                LauncherDiscoveryRequestBuilder.request()
                        .selectors(DiscoverySelectors.selectClass(examples))
                        .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                        .configurationParameter(
                                "junit.jupiter.execution.parallel.mode.default", "concurrent")
                        .configurationParameter(
                                "junit.jupiter.execution.parallel.config.strategy", "fixed")
                        .configurationParameter(
                                "junit.jupiter.execution.parallel.config.fixed.parallelism",
                                Integer.toString(threads)));
    }

    private static Map<String, TestExecutionResult> run(LauncherDiscoveryRequestBuilder request) {
        Map<String, TestExecutionResult> results = new LinkedHashMap<>();
        TestExecutionListener listener =
                new TestExecutionListener() {
                    @Override
                    public synchronized void executionFinished(
                            TestIdentifier test, TestExecutionResult result) {
                        if (test.isTest()) {
                            results.put(test.getDisplayName(), result);
                        }
                    }
                };
        LauncherFactory.create(
                        LauncherConfig.builder()
                                .enableTestExecutionListenerAutoRegistration(false)
                                .addTestExecutionListeners(listener)
                                .build())
                .execute(
                        request.configurationParameter(
                                        "junit.jupiter.extensions.autodetection.enabled", "false")
                                .build());
        return results;
    }
}
