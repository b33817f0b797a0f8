package io.softdpu.cli.flags;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Suggestions;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The flags of a JSON file, in the form of DOCA's programs:
 *
 * <pre>
 * {
 *   // general flags are the same for all programs
 *   "doca_general_flags": {"log-level": 60, "sdk-log-level": 40},
 *   "doca_program_flags": {"device": "03:00.0", "cpu": [0], "storage-server": "127.0.0.1:12345"}
 * }
 * </pre>
 *
 * <p>Names are long names without hyphens before them. A value is a string, a number, true or
 * false, or an array of these for a flag that may be given several times. A byte order mark is
 * skipped, as in topology files, which have the same comments. Immutable.
 *
 * @param source name of the file in messages
 * @param flags in the order of the file, each name once per section
 */
public record FlagFile(String source, List<Flag> flags) {
    /** A part of a file. */
    public enum Section {
        /** The flags that all programs have. */
        GENERAL("doca_general_flags"),
        /** The flags of one program. */
        PROGRAM("doca_program_flags");

        private final String key;

        Section(String key) {
            this.key = key;
        }

        /** Its name in a file. */
        public String key() {
            return key;
        }

        private static Optional<Section> of(String key) {
            return Arrays.stream(values()).filter(one -> one.key.equals(key)).findFirst();
        }

        private static String expectedFor(String key) {
            List<String> keys = Arrays.stream(values()).map(Section::key).toList();
            return "one of " + keys + Suggestions.question(Suggestions.of(key, keys));
        }
    }

    /** Type of a value in JSON. */
    public enum ValueType {
        /** A text in quotes. */
        STRING,
        /** A number without fraction and exponent. */
        WHOLE_NUMBER,
        /** Any other number. */
        NUMBER,
        /** True or false. */
        BOOLEAN
    }

    /**
     * A value.
     *
     * @param type its type in the file
     * @param text as a command line has it
     * @param line in the file, from 1 on
     */
    public record Value(ValueType type, String text, int line) {}

    /**
     * A flag.
     *
     * @param section the section that it is in
     * @param name its long name
     * @param line of its name, from 1 on
     * @param isArray whether its values are in an array
     * @param values one, or those of the array
     */
    public record Flag(
            Section section, String name, int line, boolean isArray, List<Value> values) {
        /** Takes a copy. */
        public Flag {
            values = List.copyOf(values);
        }
    }

    /** Takes a copy. */
    public FlagFile {
        flags = List.copyOf(flags);
    }

    /**
     * Reads a file.
     *
     * @throws DpuException NOT_FOUND if there is none; IO_FAILED if it cannot be read; BAD_CONFIG
     *     as {@link #parse}, and if it is not a regular file, is too large or not UTF-8
     */
    public static FlagFile read(Path file) {
        try {
            return parse(file.toString(), CheckedFile.readText(file, FilePolicy.USER_TEXT));
        } catch (FileRefusedException e) {
            throw unreadable(Status.BAD_CONFIG, file, e.reason(), e.expected(), e);
        } catch (NoSuchFileException e) {
            throw unreadable(Status.NOT_FOUND, file, "it does not exist", "a file with flags", e);
        } catch (CharacterCodingException e) {
            throw unreadable(Status.BAD_CONFIG, file, "it is not UTF-8", "JSON", e);
        } catch (IOException e) {
            throw unreadable(
                    Status.IO_FAILED, file, Reason.of(e), "a file that this user may read", e);
        }
    }

    private static DpuException unreadable(
            Status status, Path file, String reason, String expected, IOException cause) {
        return new DpuException(
                status,
                "flags cannot be read: file="
                        + file
                        + ", reason="
                        + reason
                        + ", expected="
                        + expected,
                cause);
    }

    /**
     * Parses a text.
     *
     * @param source name of the file in messages
     * @throws DpuException BAD_CONFIG if it is not such a file: the message names the file, the
     *     line, the name and what was expected
     */
    public static FlagFile parse(String source, String text) {
        JsonFactory factory =
                JsonFactory.builder().enable(JsonReadFeature.ALLOW_JAVA_COMMENTS).build();
        try (JsonParser json = factory.createParser(Text.withoutByteOrderMark(text))) {
            return new FlagFile(source, new Reader(source, json).readDocument());
        } catch (JsonProcessingException e) {
            JsonLocation location = e.getLocation();
            throw refused(
                    "not JSON",
                    source,
                    location == null ? 1 : Math.max(1, location.getLineNr()),
                    null,
                    "reason=" + ForeignText.escapeAndCut(String.valueOf(e.getOriginalMessage())),
                    "JSON",
                    e);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // cannot occur: the text is in memory
        }
    }

    /**
     * The exception for a part of a file.
     *
     * @param reason what is wrong
     * @param source name of the file
     * @param line in the file
     * @param name of the flag or section; null: that of neither
     * @param actual a key and value more; null: none
     * @param expected what it should be
     */
    public static DpuException refused(
            String reason,
            String source,
            int line,
            @Nullable String name,
            @Nullable String actual,
            String expected) {
        return refused(reason, source, line, name, actual, expected, null);
    }

    /**
     * The same with a cause.
     *
     * @param cause null: none
     */
    public static DpuException refused(
            String reason,
            String source,
            int line,
            @Nullable String name,
            @Nullable String actual,
            String expected,
            @Nullable Throwable cause) {
        return new DpuException(
                Status.BAD_CONFIG,
                reason
                        + ": file="
                        + source
                        + ", line="
                        + line
                        + (name == null ? "" : ", name=" + ForeignText.escapeAndCut(name))
                        + (actual == null ? "" : ", " + actual)
                        + ", expected="
                        + expected,
                cause);
    }

    /** Reads one text token by token, so that each error can name its line. */
    private static final class Reader {
        private final String source;
        private final JsonParser json;
        private final List<Flag> flags = new ArrayList<>();

        Reader(String source, JsonParser json) {
            this.source = source;
            this.json = json;
        }

        List<Flag> readDocument() throws IOException {
            requireObject(json.nextToken(), null);
            Set<Section> seen = EnumSet.noneOf(Section.class);
            while (json.nextToken() != JsonToken.END_OBJECT) {
                String key = json.currentName();
                int line = line();
                Section section =
                        Section.of(key)
                                .orElseThrow(() ->
                                        refused(
                                                "no such section",
                                                source,
                                                line,
                                                key,
                                                null,
                                                Section.expectedFor(key)));
                if (!seen.add(section)) {
                    throw refused("section is given twice", source, line, key, null, "one section");
                }
                requireObject(json.nextToken(), key);
                readSection(section);
            }
            if (json.nextToken() != null) {
                throw refused(
                        "text after the flags", source, line(), null, actual(), "the end of file");
            }
            return flags;
        }

        private void readSection(Section section) throws IOException {
            Set<String> seen = new HashSet<>();
            while (json.nextToken() != JsonToken.END_OBJECT) {
                String name = json.currentName();
                int line = line();
                if (!seen.add(name)) {
                    throw refused("flag is given twice", source, line, name, null, "one value");
                }
                List<Value> values = new ArrayList<>();
                boolean isArray = json.nextToken() == JsonToken.START_ARRAY;
                if (isArray) {
                    while (json.nextToken() != JsonToken.END_ARRAY) {
                        values.add(value(name));
                    }
                } else {
                    values.add(value(name));
                }
                flags.add(new Flag(section, name, line, isArray, values));
            }
        }

        private Value value(String name) throws IOException {
            ValueType type =
                    switch (json.currentToken()) {
                        case VALUE_STRING -> ValueType.STRING;
                        case VALUE_NUMBER_INT -> ValueType.WHOLE_NUMBER;
                        case VALUE_NUMBER_FLOAT -> ValueType.NUMBER;
                        case VALUE_TRUE, VALUE_FALSE -> ValueType.BOOLEAN;
                        default ->
                                throw refused(
                                        "value is of a wrong type",
                                        source,
                                        line(),
                                        name,
                                        actual(),
                                        "a string, a number, true or false, or an array of these");
                    };
            return new Value(type, json.getText(), line());
        }

        private void requireObject(@Nullable JsonToken token, @Nullable String name)
                throws IOException {
            if (token != JsonToken.START_OBJECT) {
                throw refused(
                        "value is of a wrong type", source, line(), name, actual(), "an object");
            }
        }

        private String actual() throws IOException {
            JsonToken token = json.currentToken();
            return "value=" + (token == null ? "none" : ForeignText.escapeAndCut(json.getText()));
        }

        private int line() {
            return Math.max(1, json.currentTokenLocation().getLineNr());
        }
    }
}
