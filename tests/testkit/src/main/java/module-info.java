/** Test support for all modules. Imports no softdpu module. */
module io.softdpu.testkit {
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.platform.launcher;
    requires java.logging;
    requires java.management;
    requires jdk.management;
    requires static org.jspecify;

    exports io.softdpu.testkit;

    provides org.junit.jupiter.api.extension.Extension with
            io.softdpu.testkit.LeakExtension,
            io.softdpu.testkit.ProcessesExtension,
            io.softdpu.testkit.SeedExtension,
            io.softdpu.testkit.StartsProcessesExtension;
    provides org.junit.platform.launcher.TestExecutionListener with
            io.softdpu.testkit.ClauseListener,
            io.softdpu.testkit.SlowClassListener;
}
