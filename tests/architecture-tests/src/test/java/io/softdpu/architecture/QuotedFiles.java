package io.softdpu.architecture;

import io.softdpu.linux.text.Text;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Code blocks of a page that quote a file of the repository. The comment before the block names the
 * file, relative to the root; the block has the whole text of the file, or a part of it:
 *
 * <pre>{@code
 * <!-- file: outside/junit/pom.xml -->
 * <!-- file: outside/junit/pom.xml, part: dependencies -->
 * }</pre>
 *
 * <p>A part is the lines between one that ends with {@code [part: dependencies]} and the next that
 * ends with {@code [end]}, in comments of the language of the file ({@code -->} may follow),
 * without their common indentation.
 */
final class QuotedFiles {
    private static final Pattern COMMENT = Pattern.compile("^\\s*<!--\\s*file\\b.*$");
    private static final Pattern WELL_FORMED =
            Pattern.compile("^<!-- file: ([^ ,]+)(?:, part: ([\\w-]+))? -->$");
    private static final Pattern FENCE = Pattern.compile("^(`{3,})\\w*$");
    private static final Pattern MARK = Pattern.compile("\\[(part: ([\\w-]+)|end)](\\s*-->)?\\s*$");

    private QuotedFiles() {}

    /**
     * A block that does not have the text of its file.
     *
     * @param line number of the comment, from 1
     * @param reason as in an error
     */
    record Difference(int line, String reason) {
        @Override
        public String toString() {
            return Text.format("line %d: %s", line, reason);
        }
    }

    /**
     * Compares the blocks of a page with their files.
     *
     * @param root folder that the names of files are relative to
     * @param page the text of the page
     */
    static List<Difference> differences(Path root, String page) {
        List<Difference> found = new ArrayList<>();
        List<String> lines = page.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            if (COMMENT.matcher(lines.get(i)).matches()) {
                String reason = compare(root, lines, i);
                if (!reason.isEmpty()) {
                    found.add(new Difference(i + 1, reason));
                }
            }
        }
        return found;
    }

    private static String compare(Path root, List<String> page, int comment) {
        Matcher named = WELL_FORMED.matcher(page.get(comment));
        if (!named.matches()) {
            return Text.format(
                    "comment is malformed: comment=%s, expected=<!-- file: PATH -->",
                    page.get(comment));
        }
        String begin = comment + 1 < page.size() ? page.get(comment + 1) : "";
        Matcher fence = FENCE.matcher(begin);
        if (!fence.matches()) {
            return Text.format("no code block after the comment: line=%s, expected=```", begin);
        }
        List<String> rest = page.subList(comment + 2, page.size());
        int length = rest.indexOf(fence.group(1));
        if (length < 0) {
            return "code block has no end: expected=" + fence.group(1);
        }
        Path file = root.resolve(named.group(1));
        if (!Files.isRegularFile(file)) {
            return "no such file: file=" + named.group(1);
        }
        List<String> text = ProjectModules.read(file).lines().toList();
        String part = named.group(2);
        if (part != null) {
            text = part(text, part);
            if (text.isEmpty()) {
                return Text.format("file has no such part: file=%s, part=%s", named.group(1), part);
            }
        }
        return difference(named.group(1), rest.subList(0, length), text);
    }

    private static List<String> part(List<String> text, String name) {
        List<String> part = new ArrayList<>();
        boolean inside = false;
        for (String line : text) {
            Matcher mark = MARK.matcher(line);
            if (mark.find()) {
                inside = name.equals(mark.group(2));
            } else if (inside) {
                part.add(line);
            }
        }
        int indentation =
                part.stream()
                        .filter(line -> !line.isBlank())
                        .mapToInt(line -> line.length() - line.stripLeading().length())
                        .min()
                        .orElse(0);
        return part.stream()
                .map(line -> line.isBlank() ? "" : line.substring(indentation))
                .toList();
    }

    private static String difference(String file, List<String> block, List<String> text) {
        for (int i = 0; i < Math.max(block.size(), text.size()); i++) {
            String quoted = i < block.size() ? block.get(i) : "(end)";
            String expected = i < text.size() ? text.get(i) : "(end)";
            if (!quoted.equals(expected)) {
                return Text.format(
                        "block differs from its file: file=%s, lineOfBlock=%d, text=%s,"
                                + " expected=%s",
                        file, i + 1, quoted, expected);
            }
        }
        return "";
    }
}
