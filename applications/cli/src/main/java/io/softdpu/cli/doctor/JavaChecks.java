package io.softdpu.cli.doctor;

/** Checks of the Java runtime. */
final class JavaChecks {
    private static final int NEEDED = 25;

    private JavaChecks() {}

    static Finding jdk(Runtime.Version version, String home) {
        String detail = "version=" + version + ", home=" + home;
        return version.feature() >= NEEDED
                ? Finding.ok("JDK", detail)
                : Finding.error(
                        "JDK", detail, "install JDK 25 or newer, or set SOFTDPU_JAVA_HOME to one");
    }

    /**
     * Native access of the module with the system calls.
     *
     * @param isEnabled by an option of the JVM
     */
    static Finding nativeAccess(boolean isEnabled) {
        return isEnabled
                ? Finding.ok("native access", "io.softdpu.linux=enabled")
                : Finding.warning(
                        "native access",
                        "io.softdpu.linux=not enabled",
                        "start the JVM with --enable-native-access=io.softdpu.linux (on the class"
                                + " path ALL-UNNAMED): it warns now, and a later JDK refuses it");
    }

    /**
     * The encoding of arguments and file names, which the locale determines.
     *
     * @param encoding as the JDK names it
     */
    static Finding encoding(String encoding) {
        String detail = "encoding=" + encoding;
        return encoding.equals("UTF-8")
                ? Finding.ok("text encoding", detail)
                : Finding.warning(
                        "text encoding",
                        detail,
                        "set LC_ALL to C.UTF-8: names beyond ASCII are refused without it");
    }
}
