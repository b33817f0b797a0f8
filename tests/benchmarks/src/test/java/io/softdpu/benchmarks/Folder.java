package io.softdpu.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A fabric folder of one benchmark. */
record Folder(Path path) implements AutoCloseable {
    static Folder make() {
        try {
            return new Folder(Files.createTempDirectory("softdpu-benchmark-"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        List<Path> all;
        try (Stream<Path> tree = Files.walk(path)) {
            all = tree.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path one : all) {
            Files.deleteIfExists(one);
        }
    }
}
