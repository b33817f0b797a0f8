/** What the tests of all modules share. Imports no softdpu module. */
module io.softdpu.testkit {
    requires transitive org.junit.jupiter.api;
    requires static org.jspecify;

    exports io.softdpu.testkit;
}
