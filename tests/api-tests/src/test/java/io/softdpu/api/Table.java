package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.BuildFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Results of the calls as a readable text: written to the target folder, and compared with what was
 * looked at and committed.
 */
final class Table {
    private static final int NAME_WIDTH = 62;
    private static final int CELL_WIDTH = 15;

    private final String name;
    private final List<String> lines = new ArrayList<>();
    private List<String> columns = List.of();

    Table(String name) {
        this.name = name;
    }

    /** Begins a type; without columns each row names its cells. */
    void section(String title, List<String> newColumns) {
        columns = newColumns;
        lines.add("");
        StringBuilder line = new StringBuilder("## " + title);
        if (!columns.isEmpty()) {
            padTo(line, NAME_WIDTH);
            columns.forEach(column -> cell(line, column));
        }
        lines.add(line.toString().stripTrailing());
    }

    void row(Operation operation, Map<String, String> cells) {
        StringBuilder line = new StringBuilder(operation.signature());
        padTo(line, NAME_WIDTH);
        for (String column : columns) {
            cell(line, cells.getOrDefault(column, ""));
        }
        lines.add(line.toString().stripTrailing());
    }

    void row(Operation operation, String parameter, Map<String, String> cells) {
        StringBuilder line = new StringBuilder(operation.signature());
        padTo(line, NAME_WIDTH);
        line.append("| ").append(parameter).append(": ");
        cells.forEach(
                (label, outcome) -> line.append(label).append('=').append(outcome).append(' '));
        lines.add(line.toString().stripTrailing());
    }

    /** Fails where a line differs from the committed one; says how to commit what has come out. */
    void compare() {
        String text = String.join("\n", lines) + "\n";
        Path written = BuildFolder.resolve(name);
        try {
            Files.writeString(written, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(text.lines().filter(line -> !line.isBlank()))
                .as(
                        "what has come out stands in %s; look at what differs, and if it is right"
                                + " copy it to src/test/resources/io/softdpu/api",
                        written.toAbsolutePath())
                .containsExactlyElementsOf(
                        committed()
                                .lines()
                                .filter(line -> !line.isBlank() && !line.startsWith("# "))
                                .toList());
    }

    private String committed() {
        try (InputStream in = Table.class.getResourceAsStream(name)) {
            return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void padTo(StringBuilder line, int width) {
        line.append(" ".repeat(Math.max(1, width - line.length())));
    }

    private static void cell(StringBuilder line, String text) {
        line.append("| ").append(text).append(" ".repeat(Math.max(1, CELL_WIDTH - text.length())));
    }
}
