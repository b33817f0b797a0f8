/** Rules over all modules, and the report of which clauses their tests have shown. */
module io.softdpu.architecture.tests {
    requires static org.jspecify;
}
