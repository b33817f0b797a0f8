package io.softdpu.rdma.roce;

import io.softdpu.rdma.roce.capture.Analysis;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Captures of packets that the Linux driver has made, among the resources of these tests. */
public final class Captures {
    private static final String FOLDER = "linux-6.1";

    private Captures() {}

    /** Names of all files, sorted. */
    public static List<String> names() {
        try (Stream<Path> files = Files.list(file(""))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The path of a file. */
    public static Path file(String name) {
        URL folder = Objects.requireNonNull(Captures.class.getResource(FOLDER));
        try {
            return Path.of(folder.toURI()).resolve(name);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Reads to the end of a file, and shows each packet. */
    public static Analysis read(String name, Look look) {
        try (InputStream input = Files.newInputStream(file(name))) {
            return read(input, look);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads to the end of a stream, and shows each packet. */
    public static Analysis read(InputStream input, Look look) {
        try {
            Analysis analysis = new Analysis(input);
            while (analysis.next()) {
                look.at(analysis);
            }
            return analysis;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A look at a packet. */
    public interface Look {
        /** Sees the packet that was read last. */
        void at(Analysis analysis);
    }
}
