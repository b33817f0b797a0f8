package io.softdpu.cli;

import io.softdpu.linux.text.Text;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parses a word for a constant of an enumeration.
 *
 * @param <E> the enumeration
 */
abstract class WordConverter<E extends Enum<E>> implements ITypeConverter<E>, Iterable<String> {
    private final List<E> constants;
    private final Function<E, String> word;
    private final String reason;
    private final String key;

    /**
     * A converter for all constants.
     *
     * @param reason of the refusal of another word, such as {@code no such way to wait}
     * @param key of the word in it
     */
    WordConverter(Class<E> type, Function<E, String> word, String reason, String key) {
        constants = List.of(type.getEnumConstants());
        this.word = word;
        this.reason = reason;
        this.key = key;
    }

    @Override
    public final E convert(String text) {
        return constants.stream()
                .filter(each -> word.apply(each).equals(text))
                .findFirst()
                .orElseThrow(() ->
                        new TypeConversionException(
                                Text.format(
                                        "%s: %s=%s, expected=%s", reason, key, text, expected())));
    }

    private String expected() {
        List<String> words = constants.stream().map(word).toList();
        return words.stream().limit(words.size() - 1).collect(Collectors.joining(", "))
                + " or "
                + words.getLast();
    }

    /** The words, for completion. */
    @Override
    public final Iterator<String> iterator() {
        return constants.stream().map(word).iterator();
    }
}
