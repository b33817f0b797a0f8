package io.softdpu.architecture;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Parser of the Javadoc descriptions of types, packages and modules in a source file. It expects
 * code as the formatter leaves it, and reads text blocks and strings as code.
 */
final class Descriptions {
    private static final String OPENING = "/**";
    private static final String CLOSING = "*/";

    private static final Pattern ANNOTATION = Pattern.compile("@(?!interface\\b)[\\w.]+");

    private static final Pattern DECLARATION =
            Pattern.compile(
                    "(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|open"
                            + "|strictfp)\\s+)*"
                            + "((?:class|interface|enum|record|@interface|package|module)"
                            + "\\s+[\\w.]+)");

    /** Ends at a point or colon before a blank, at a paragraph, and at a tag. */
    private static final Pattern SENTENCE =
            Pattern.compile("^(.*?)(?:(?<=[.:])\\s|\\s*<p>|\\s@\\w|$)", Pattern.DOTALL);

    private final String source;

    /**
     * A description.
     *
     * @param declared kind and name of what is described, such as {@code class Bus}
     * @param sentence its first sentence, on one line
     */
    record Description(String declared, String sentence) {}

    private Descriptions(String source) {
        this.source = source;
    }

    /** The descriptions of a source file, in its order. */
    static List<Description> of(String source) {
        return new Descriptions(source).parse();
    }

    private List<Description> parse() {
        List<Description> all = new ArrayList<>();
        Matcher declaration = DECLARATION.matcher(source);
        int begin = source.indexOf(OPENING);
        while (begin >= 0) {
            int end = source.indexOf(CLOSING, begin + OPENING.length());
            if (end < 0) {
                return all;
            }
            int code = skipAnnotations(end + CLOSING.length());
            if (declaration.region(code, source.length()).lookingAt()) {
                all.add(
                        new Description(
                                declaration.group(1).replaceAll("\\s+", " "),
                                firstSentence(source.substring(begin + OPENING.length(), end))));
            }
            begin = source.indexOf(OPENING, end);
        }
        return all;
    }

    private int skipAnnotations(int from) {
        Matcher annotation = ANNOTATION.matcher(source);
        int at = skipBlanks(from);
        while (annotation.region(at, source.length()).lookingAt()) {
            at = annotation.end();
            if (at < source.length() && source.charAt(at) == '(') {
                at = skipParentheses(at);
            }
            at = skipBlanks(at);
        }
        return at;
    }

    /** Blanks and comments to the end of a line. */
    private int skipBlanks(int from) {
        int at = from;
        while (at < source.length()) {
            if (source.startsWith("//", at)) {
                int end = source.indexOf('\n', at);
                at = end < 0 ? source.length() : end;
            } else if (Character.isWhitespace(source.charAt(at))) {
                at++;
            } else {
                break;
            }
        }
        return at;
    }

    private int skipParentheses(int from) {
        int depth = 0;
        boolean quoted = false;
        for (int at = from; at < source.length(); at++) {
            char c = source.charAt(at);
            if (c == '\\') {
                at++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (!quoted && c == '(') {
                depth++;
            } else if (!quoted && c == ')' && --depth == 0) {
                return at + 1;
            }
        }
        return source.length();
    }

    private static String firstSentence(String comment) {
        String text =
                comment.lines()
                        .map(line -> line.strip().replaceFirst("^\\*\\s?", ""))
                        .collect(Collectors.joining(" "))
                        .replaceAll("\\s+", " ")
                        .strip();
        Matcher sentence = SENTENCE.matcher(text);
        return sentence.find() ? sentence.group(1) : text;
    }
}
