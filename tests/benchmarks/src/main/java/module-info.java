/** Benchmarks under JMH; the module itself is empty, since all of it is for this build alone. */
module io.softdpu.benchmarks {
    requires static org.jspecify;
}
