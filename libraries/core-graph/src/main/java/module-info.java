/** Graphs of tasks or jobs, user callbacks and further graphs, in the order of dependencies. */
module io.softdpu.core.graph {
    requires transitive io.softdpu.core;
    requires io.softdpu.linux;
    requires static org.jspecify;

    exports io.softdpu.core.graph;
}
