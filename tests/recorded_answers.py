"""What each recorded answer means: what it says, or why it is asked for again or fails."""

from tests.recordings import BUDGET, SIGNATURE, SOURCES, Expected, details

THREE_PAGES = [
    {"url": "https://a.example/one", "title": "One"},
    {"url": "https://b.example/two", "title": "Two"},
    {"url": "https://c.example/three", "title": "Three"},
]
ANSWERS: dict[str, Expected] = {
    "openai_calls": Expected("Let me look.", "", (BUDGET,), ("call_aB1",), (120, 31, 64, 12)),
    "openai_annotations": Expected(
        "The rate is 4.25 %.",
        usage=(20, 9, 0, 0),
        told={
            "sources": [
                {"url": "https://bank.example/rate?utm_source=openai", "title": "Policy rate"},
                {"url": "https://bank.example/minutes", "title": "Minutes"},
            ]
        },
    ),
    "azure_filters": Expected("All within budget."),
    "azure_own_data": Expected(
        "Book early [doc1].",
        told={
            "sources": [
                {"url": "https://files.example/policy.pdf", "title": "Travel policy"},
                {"title": "annex.docx"},
            ]
        },
    ),
    "snowflake_text": Expected("Two ledgers.", usage=(14, 5, 0, 0)),
    "snowflake_calls": Expected(
        "I will look.", "", (BUDGET, SOURCES), ("tooluse_Q1", "tooluse_Q2"), (300, 44, 0, 0)
    ),
    "novita_calls": Expected(
        "\n",
        "They want a budget.",
        (BUDGET,),
        ("call_n1",),
        (210, 40, 0, 0),
        back={"reasoning_content": "They want a budget."},
    ),
    "deepseek_calls": Expected(
        "",
        "I need the budget first.",
        (BUDGET,),
        ("call_00_d1",),
        (60, 25, 48, 10),
        back={"reasoning_content": "I need the budget first."},
    ),
    "deepseek_answer": Expected("It is 120,000.", "Easy.", usage=(60, 25, 48, 10)),
    "deepseek_no_thought": Expected(
        "", "", (BUDGET,), ("call_00_d2",), (60, 25, 48, 10), back={"reasoning_content": ""}
    ),
    "gemini_calls": Expected(
        "",
        "",
        (BUDGET, SOURCES),
        ("function-call-1", "function-call-2"),
        (55, 20, 0, 0),
        back_calls={0: {"extra_content": SIGNATURE}},
    ),
    "gemini_same_index": Expected("", "", (BUDGET, SOURCES), (None, None)),
    "gemini_text": Expected(
        "It is 120,000.", usage=(8, 4, 0, 0), back={"extra_content": SIGNATURE}
    ),
    "openrouter_claude_calls": Expected(
        "",
        "They want a budget.",
        (BUDGET,),
        ("toolu_01",),
        (400, 60, 0, 0),
        back={
            "reasoning": "They want a budget.",
            "reasoning_details": [
                details(
                    "text",
                    "anthropic-claude-v1",
                    text="They want a budget.",
                    signature="ErUBCkYIBxgC",
                )
            ],
        },
    ),
    "openrouter_gpt_calls": Expected(
        "",
        "**Looking it up**",
        (BUDGET,),
        ("call_r1",),
        (90, 70, 0, 0),
        back={
            "reasoning": "**Looking it up**",
            "reasoning_details": [
                details("summary", "openai-responses-v1", summary="**Looking it up**"),
                details("encrypted", "openai-responses-v1", data="gAAAAABpIg==", id="rs_0a1"),
            ],
        },
    ),
    "openrouter_gemini_calls": Expected(
        "",
        "",
        (BUDGET,),
        ("tool_0_get_budget",),
        (50, 12, 0, 0),
        back={
            "reasoning_details": [
                details("encrypted", "google-gemini-v1", data="EtQBCtEB", id="tool_0_get_budget")
            ]
        },
    ),
    "groq_compound": Expected(
        "It is 4.25 %.",
        "<tool>search(rate)</tool>",
        usage=(900, 80, 0, 0),
        told={
            "sources": [{"url": "https://bank.example/rate", "title": "Policy rate"}],
            "executed_tools": [{"name": "web_search", "arguments": '{"query": "rate"}'}],
        },
    ),
    "groq_calls": Expected(
        "", "Need data.", (BUDGET,), ("fc_9d",), (150, 33, 0, 0), back={"reasoning": "Need data."}
    ),
    "perplexity": Expected(
        "Growth slowed[1][2].",
        usage=(7, 3, 0, 0),
        told={"sources": THREE_PAGES},
    ),
    "perplexity_thinking": Expected(
        "Yes[1].",
        "\nTwo pages.\n",
        usage=(7, 3, 0, 0),
        told={"sources": THREE_PAGES},
    ),
    "mistral_references": Expected(
        "It rose last year.",
        usage=(30, 8, 0, 0),
        told={"sources": [{"title": "Reference 0"}, {"title": "Reference doc-2"}]},
    ),
    "mistral_thinking_calls": Expected(
        "One moment.",
        "A budget then.",
        (BUDGET,),
        ("D681PevKs",),
        (30, 18, 0, 0),
        content=[
            {"type": "thinking", "thinking": [{"type": "text", "text": "A budget then."}]},
            {"type": "text", "text": "One moment."},
        ],
    ),
    "mistral_limit": Expected("As far as it", usage=(30, 8, 0, 0)),
    "together_calls": Expected("", "", (BUDGET,), ("call_t1",), (70, 21, 0, 0)),
    "fireworks_calls": Expected("", "", (BUDGET,), ("call_f1",), (10, 5, 0, 0)),
    "ollama_calls": Expected(
        "",
        "Look it up.",
        (BUDGET,),
        ("call_o1",),
        (160, 30, 0, 0),
        back={"reasoning": "Look it up."},
    ),
    "plain_json_text": Expected("Just text.", "Hm.", usage=(11, 6, 0, 0)),
    "plain_json_calls": Expected(
        "",
        "Look.",
        (BUDGET,),
        ("call_j1",),
        (11, 6, 0, 0),
        back={"reasoning_content": "Look."},
        back_calls={0: {"extra_content": SIGNATURE}},
    ),
    "plain_json_unfinished": Expected("All of it.", usage=(11, 6, 0, 0)),
    "vllm_calls": Expected(
        "",
        "So then.",
        (BUDGET,),
        ("chatcmpl-tool-1",),
        (40, 22, 0, 0),
        back={"reasoning": "So then.", "reasoning_content": "So then."},
    ),
    "cohere_limit": Expected("As far as it", usage=(5, 4, 0, 0)),
    "cerebras_calls": Expected(
        "", "Budget.", (BUDGET,), ("cb-1",), (77, 19, 0, 0), back={"reasoning": "Budget."}
    ),
    "xai_citations": Expected(
        "Yes.",
        "Search.",
        usage=(9, 9, 0, 0),
        told={"sources": [{"url": "https://x.example/1"}, {"title": "javascript:alert(1)"}]},
    ),
    "xai_usage": Expected("101 plus 3 is 104.", usage=(32, 103, 6, 94)),
    "qwen_no_thought": Expected("It is 7."),
    "moonshot_calls": Expected(
        "",
        "First the budget.",
        (BUDGET,),
        ("get_budget:0",),
        (88, 17, 80, 0),
        back={"reasoning_content": "First the budget."},
    ),
    "minimax_calls": Expected(
        "One moment.",
        "They want a budget.\n",
        (BUDGET,),
        ("call_function_1",),
        (66, 24, 0, 0),
        content="<think>They want a budget.\n</think>\n\nOne moment.",
    ),
    "zhipu_search": Expected(
        "Yes.",
        usage=(6, 2, 0, 0),
        told={"sources": [{"url": "https://z.example/r", "title": "Rates"}]},
    ),
    "databricks_calls": Expected(
        "One moment.",
        "A budget.",
        (BUDGET,),
        ("toolu_bdrk_1",),
        (50, 40, 0, 0),
        content=[
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "A budget.", "signature": "EpwGCk"}],
            },
            {"type": "text", "text": "One moment."},
        ],
    ),
    "litellm_calls": Expected(
        "",
        "A budget.",
        (BUDGET,),
        ("toolu_ll",),
        (50, 41, 0, 0),
        back={
            "reasoning_content": "A budget.",
            "thinking_blocks": [
                {"type": "thinking", "thinking": "A budget.", "signature": "EqoBCk"}
            ],
        },
    ),
    "legacy_function_call": Expected("", "", (BUDGET,), (None,)),
    "name_in_pieces": Expected("", "", (BUDGET,), ("c1",)),
    "arguments_as_object": Expected("", "", (BUDGET, SOURCES), (None, None)),
    "one_id_twice": Expected("", "", (BUDGET, SOURCES), ("same", None)),
    "null_deltas": Expected("Fine."),
    "crlf_bom_no_space": Expected("Fine."),
    "no_blank_lines": Expected("Fine."),
    "second_choice": Expected("One."),
    "finish_with_last_piece": Expected("", "", (BUDGET,), ("c1",)),
}

# Asked for again, with the reason that a person reads meanwhile.
AGAIN: dict[str, str] = {
    "snowflake_half_call": "broke off",
    "snowflake_cut": "broke off",
    "only_thinking_then_done": "broke off",
    "deepseek_no_resources": "broke off",
    "gemini_malformed": "could not read",
    "openrouter_breaks": "Provider disconnected",
    "groq_slip": "could not read",
    "groq_slip_streamed": "could not read",
    "plain_json_error": "upstream is busy",
    "llama_cpp_error": "slot is gone",
    "a_page": "cannot be read",
}

# Never asked for again: the words of the error, and what must not be in it.
FAILS: dict[str, tuple[str, str]] = {
    "gemini_refuses": ("missing a thought_signature", "Traceback"),
    "groq_refuses": ("'reasoning_content' is unsupported", "Traceback"),
    "openrouter_no_endpoint": ("No endpoints found that support tool use", "knows no model"),
    "openrouter_no_credits": ("Insufficient credits", "user_2x"),
    "vllm_refuses": ("has no chat template", "Traceback"),
    "not_found_model": ("knows no model 'gpt-4o'", "canary"),
    "not_found_page": ("nothing at this address", "nginx"),
    "not_found_path": ("nothing at this address", "knows no model"),
}
