package io.softdpu.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.cli.flags.FlagFile;
import io.softdpu.cli.flags.FlagFile.Flag;
import io.softdpu.cli.flags.FlagFile.Value;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.StartsProcesses;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/** Files with command line flags. */
@StartsProcesses
class FlagFileFuzzTest {

    @FuzzTest
    void bytes(byte[] file) {
        String text = new String(file, StandardCharsets.UTF_8);
        FlagFile flags;
        try {
            flags = FlagFile.parse("fuzz", text);
        } catch (DpuException e) {
            String message = String.valueOf(e.getMessage());
            if (e.status() != Status.BAD_CONFIG
                    || !message.contains(": file=fuzz, line=")
                    || !message.contains(", expected=")
                    || message.length() > 1000) {
                throw new AssertionError("refused in another way: " + e, e);
            }
            return;
        }
        long lines = text.lines().count();
        Set<String> seen = new HashSet<>();
        for (Flag flag : flags.flags()) {
            if (!seen.add(flag.section() + " " + flag.name())) {
                throw new AssertionError("a flag is there twice: " + flag);
            }
            if (!flag.isArray() && flag.values().size() != 1) {
                throw new AssertionError("not one value: " + flag);
            }
            requireLine(flag, flag.line(), lines);
            for (Value value : flag.values()) {
                requireLine(flag, value.line(), lines);
            }
        }
    }

    private static void requireLine(Flag flag, int line, long lines) {
        if (line < 1 || line > lines) {
            throw new AssertionError("no line of the file: lines=" + lines + ", flag=" + flag);
        }
    }
}
