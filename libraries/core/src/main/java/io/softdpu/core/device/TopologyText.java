package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Formatter and parser of the canonical text of a topology, described in {@link Topology}. */
final class TopologyText {
    private static final String HEAD = "softdpu topology 1";
    private static final String NONE = "-";
    private static final String LIMIT = "limit.";
    private static final String PLUGGED = "yes";

    /** Pattern of a value, with the maximum length of names, addresses and numbers. */
    private static final String V = "=(\\S{1,64})";

    private static final Pattern LINE =
            Pattern.compile(
                    ("function side%s interface%s ibdev%s type=(PF|VF|SF) pci%s"
                                    + " parent%s representor%s ipv4%s mac%s vuid%s"
                                    + " rate=(\\d{1,19})(| .*)")
                            .replace("%s", V));
    private static final Pattern MORE = Pattern.compile(" ([a-z0-9_.-]{1,128})" + V);

    private TopologyText() {}

    static String of(Collection<PciFunction> functions) {
        StringBuilder text = new StringBuilder(HEAD).append('\n');
        functions.forEach(function -> append(text, function));
        return text.toString();
    }

    private static void append(StringBuilder text, PciFunction f) {
        text.append("function side=").append(f.side().id());
        text.append(" interface=").append(f.interfaceName());
        text.append(" ibdev=").append(f.ibdevName());
        text.append(" type=").append(f.type());
        text.append(" pci=").append(f.pciAddress().longForm());
        text.append(" parent=").append(Objects.requireNonNullElse(f.parent(), NONE));
        text.append(" representor=").append(Objects.requireNonNullElse(f.representor(), NONE));
        text.append(" ipv4=").append(f.ipv4().getHostAddress());
        text.append(" mac=").append(f.macAddress());
        text.append(" vuid=").append(f.vuid());
        text.append(" rate=").append(f.activeRateBitsPerSecond());
        if (!f.ipv6().equals(PciFunction.linkLocalOf(f.macAddress()))) {
            text.append(" ipv6=").append(f.ipv6().getHostAddress());
        }
        f.profile().entrySet().stream()
                .map(limit -> " " + LIMIT + limit.getKey() + "=" + limit.getValue())
                .sorted()
                .forEach(text::append);
        if (f.hotplugged()) {
            text.append(" hotplugged=").append(PLUGGED);
        }
        text.append('\n');
    }

    /** The functions of a text, in its order. */
    static List<PciFunction> parse(String text) {
        String[] lines = text.split("\n", -1);
        if (!lines[0].equals(HEAD)) {
            throw malformed(1, lines[0], HEAD, null);
        }
        if (!lines[lines.length - 1].isEmpty()) {
            throw malformed(lines.length, lines[lines.length - 1], "a line feed at the end", null);
        }
        List<PciFunction> functions = new ArrayList<>();
        for (int i = 1; i < lines.length - 1; i++) {
            functions.add(parseLine(i + 1, lines[i]));
        }
        return functions;
    }

    private static PciFunction parseLine(int number, String line) {
        Matcher m = LINE.matcher(line);
        if (!m.matches()) {
            throw malformed(number, line, LINE.pattern(), null);
        }
        try {
            PciFunctionBuilder builder =
                    PciFunction.builder(Side.of(m.group(1)), m.group(2))
                            .ibdevName(m.group(3))
                            .type(FunctionType.valueOf(m.group(4)))
                            .pciAddress(m.group(5))
                            .parent(orNull(m.group(6)))
                            .representor(orNull(m.group(7)))
                            .ipv4(m.group(8))
                            .macAddress(m.group(9))
                            .vuid(m.group(10))
                            .activeRate(Long.parseLong(m.group(11)));
            parseMore(m.group(12), (key, value) -> add(builder, key, value));
            return builder.build();
        } catch (DpuException | NumberFormatException e) {
            throw malformed(number, line, String.valueOf(e.getMessage()), e);
        }
    }

    private static void parseMore(String text, BiConsumer<String, String> values) {
        Matcher m = MORE.matcher(text);
        int end = 0;
        while (m.find() && m.start() == end) {
            values.accept(m.group(1), m.group(2));
            end = m.end();
        }
        if (end != text.length()) {
            throw unknown(text.substring(end));
        }
    }

    private static void add(PciFunctionBuilder builder, String key, String value) {
        if (key.equals("ipv6")) {
            builder.ipv6(value);
        } else if (key.startsWith(LIMIT)) {
            builder.limit(key.substring(LIMIT.length()), Long.parseLong(value));
        } else if (key.equals("hotplugged") && value.equals(PLUGGED)) {
            builder.hotplugged(true);
        } else {
            throw unknown(key + "=" + value);
        }
    }

    private static @Nullable String orNull(String text) {
        return text.equals(NONE) ? null : text;
    }

    private static DpuException unknown(String text) {
        return new DpuException(
                Status.INVALID_VALUE, "unknown value: text=" + ForeignText.escapeAndCut(text));
    }

    private static DpuException malformed(
            int number, String line, String expected, @Nullable Exception cause) {
        return new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "not the text of a topology: line=%d, text=%s, expected=%s",
                        number, ForeignText.escapeAndCut(line), expected),
                cause);
    }
}
