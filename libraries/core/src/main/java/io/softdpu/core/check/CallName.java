package io.softdpu.core.check;

import java.util.List;

/** Name of the call that the user made, for the message of a refusal. Any thread. */
public final class CallName {
    private static final StackWalker STACK =
            StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);

    private CallName() {}

    /**
     * The method by which the user has entered these types: the outermost one of those that are
     * running on the calling thread and have no method of another type between them. It walks the
     * stack, so it is for failures alone.
     *
     * @param types classes or interfaces, whose subtypes count as well; that of the caller is one
     */
    public static String of(Class<?>... types) {
        List<Class<?>> entered = List.of(types);
        return STACK.walk(frames ->
                frames.skip(1)
                        .takeWhile(frame ->
                                entered.stream()
                                        .anyMatch(one ->
                                                one.isAssignableFrom(frame.getDeclaringClass())))
                        .map(StackWalker.StackFrame::getMethodName)
                        .reduce("", (inner, outer) -> outer));
    }
}
