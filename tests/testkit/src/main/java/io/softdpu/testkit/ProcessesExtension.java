package io.softdpu.testkit;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests their {@link Processes} and closes them at the end of the test, or of the class for
 * one taken by a BeforeAll method. JUnit finds this extension by ServiceLoader.
 */
public final class ProcessesExtension implements ParameterResolver {

    private static final ExtensionContext.Namespace PROCESSES =
            ExtensionContext.Namespace.create(ProcessesExtension.class);

    /** For JUnit. */
    public ProcessesExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Processes.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        // JUnit closes what its stores hold when their context ends.
        return context.getStore(PROCESSES)
                .computeIfAbsent(Processes.class, key -> new Processes(), Processes.class);
    }
}
