package io.softdpu.perf.text;

import java.util.ArrayList;
import java.util.List;

/**
 * Lines of text in columns: the first one to the left, numbers to the right. Belongs to one thread.
 */
public final class TextTable {
    private static final String GAP = "  ";

    private final List<List<String>> rows = new ArrayList<>();
    private final boolean numbers;

    private TextTable(boolean numbers, List<String> head) {
        this.numbers = numbers;
        rows.add(head);
    }

    /** A table whose columns after the first hold numbers, which stand to the right. */
    public static TextTable ofNumbers(String... head) {
        return new TextTable(true, List.of(head));
    }

    /** A table of words. */
    public static TextTable ofWords(String... head) {
        return new TextTable(false, List.of(head));
    }

    /**
     * Adds a row.
     *
     * @throws IllegalArgumentException if it is not as long as the head
     */
    public void add(String... cells) {
        if (cells.length != rows.getFirst().size()) {
            throw new IllegalArgumentException(
                    "row has another length: expected="
                            + rows.getFirst().size()
                            + ", actual="
                            + cells.length);
        }
        rows.add(List.of(cells));
    }

    /** The lines, without blanks at their ends. */
    public List<String> lines() {
        int[] widths = new int[rows.getFirst().size()];
        for (List<String> row : rows) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String cell = row.get(column);
            String fill = " ".repeat(widths[column] - cell.length());
            line.append(column == 0 ? "" : GAP);
            line.append(numbers && column > 0 ? fill + cell : cell + fill);
        }
        return line.toString().stripTrailing();
    }
}
