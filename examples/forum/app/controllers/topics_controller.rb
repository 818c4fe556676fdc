# frozen_string_literal: true

class TopicsController < ApplicationController
  PAGE = 20

  def index
    @topics = Topic.latest.offset((page - 1) * PAGE).limit(PAGE + 1).to_a
    @more = @topics.size > PAGE
    @topics = @topics.first(PAGE)
  end

  def show
    @topic = Topic.find(params[:id])
    @posts = @topic.posts_on(page)
    @post = Post.new
  end

  def new
    @topic = Topic.new
    @post = Post.new
  end

  def create
    @topic = Topic.new(params.require(:topic).permit(:title))
    @post = Post.new(params.require(:post).permit(:author, :body, :upload))
    return redirect_to(@topic) if @topic.open_with(@post)

    render :new, status: :unprocessable_entity
  end
end
